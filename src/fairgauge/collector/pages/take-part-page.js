/** The collector's own page around <fairgauge-study>: its title, its languages, and a ticket that came with the link. */
const study = document.querySelector("fairgauge-study");
const ticket = takeTicket();

/** A link may bring a ticket after "#", which browsers keep to themselves; it is taken out of the address. */
function takeTicket() {
  const found = /^#ticket=([0-9a-f]{32})$/.exec(location.hash);
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  return found?.[1] ?? null;
}

// Another language is another load of the page, without JavaScript too; the ticket goes along, and to nobody else.
if (ticket) {
  study.setAttribute("ticket", ticket);
  for (const link of document.querySelectorAll(".languages a")) link.hash = `ticket=${ticket}`;
}
study.addEventListener("fairgauge-loaded", ({ detail }) => (document.title = detail.title));
