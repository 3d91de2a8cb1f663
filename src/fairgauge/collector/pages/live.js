// Keeps a study page up to date: the collector sends finished HTML, and this puts it in place.
const page = document.querySelector("[data-events]");
const state = document.querySelector("[data-live]");
if (page && state) {
  const source = new EventSource(page.dataset.events);
  source.onopen = () => { state.textContent = state.dataset.live; };
  source.onerror = () => { state.textContent = state.dataset.lost; };
  source.addEventListener("results", (event) => {
    const sent = new DOMParser().parseFromString(event.data, "text/html");
    for (const part of sent.querySelectorAll("[data-part]")) {
      const old = document.querySelector(`[data-part="${part.dataset.part}"]`);
      if (old && old.innerHTML !== part.innerHTML) old.replaceChildren(...part.childNodes);
    }
  });
  source.addEventListener("over", () => { source.close(); state.textContent = ""; });
}
