// Keeps a study page up to date: the collector sends finished HTML, and this puts it in place. Copies commands, too.
const page = document.querySelector("[data-events]");
const state = document.querySelector("[data-live]");
if (page && state) {
  const source = new EventSource(page.dataset.events);
  const show = (word) => { state.textContent = state.dataset[navigator.onLine ? word : "offline"] ?? ""; };
  source.onopen = () => show("live");
  source.onerror = () => show("lost");
  const look = () => state.textContent && show(source.readyState === EventSource.OPEN ? "live" : "lost");
  for (const change of ["online", "offline"]) window.addEventListener(change, look);
  source.addEventListener("results", (event) => {
    const sent = new DOMParser().parseFromString(event.data, "text/html");
    for (const part of sent.querySelectorAll("[data-part]")) {
      const old = document.querySelector(`[data-part="${part.dataset.part}"]`);
      if (old && old.innerHTML !== part.innerHTML) old.replaceChildren(...part.childNodes);
    }
  });
  source.addEventListener("over", () => { source.close(); state.textContent = ""; });
}

const { copy, copied } = document.body.dataset;
for (const box of copy && navigator.clipboard ? document.querySelectorAll("pre") : []) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "quiet copy", textContent: copy });
  button.onclick = async () => {
    await navigator.clipboard.writeText(box.textContent.trim());
    button.textContent = copied;
    setTimeout(() => { button.textContent = copy; }, 2000);
  };
  box.after(button);
}
