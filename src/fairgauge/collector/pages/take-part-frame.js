/** The parts of the page where a person takes part, empty but for the words that are always the same. */
import { make } from "./take-part-visit.js";

/** Return the elements, in their order. */
export function frame(visit) {
  const said = (tag, key, properties = {}) => make(tag, properties, visit.say(key));
  const details = (id, title, ...inside) => make("details", { id }, said("summary", title), ...inside);
  const section = (id, title, ...inside) =>
    make("section", { id, hidden: true, "aria-labelledby": `${id}-title` }, title, ...inside);
  const headed = (id, key) => section(id, said(visit.part, key, { id: `${id}-title` }));
  const status = (id, properties = {}) => make("p", { id, role: "status", ...properties });
  const form = (id, ...inside) => make("form", { id, autocomplete: "off", noValidate: true }, ...inside);
  const buttons = (...inside) => make("div", { className: "buttons" }, ...inside);

  const lead = make(
    "div",
    { className: "lead" },
    said("p", "page.kicker", { className: "kicker" }),
    said(visit.title, "page.waiting-title", { id: "title", className: "title", dir: "auto" }),
    said("p", "page.waiting", { id: "asks", className: "asks" }),
  );
  const who = headed("who", "who.title");
  who.append(make("dl", { id: "who-list" }));

  const lower = form(
    "lower",
    make("div", { id: "limit-fields" }),
    buttons(said("button", "limits.keep")),
    status("lowered", { className: "hint" }),
  );
  lower.setAttribute("aria-label", visit.say("limits.form"));
  const privacy = headed("privacy", "privacy.title");
  privacy.append(
    make("p", { id: "promise" }),
    make("figure", { id: "odds" }),
    make("div", { id: "crowd", hidden: true }),
    details("checked", "checks.title", make("ul", { id: "checks", className: "checks" })),
    details("limits", "limits.title", make("p", { id: "limits-now" }), make("p", { id: "limits-readers" }), lower),
  );

  const asked = make(
    "section",
    {},
    said(visit.part, "form.title", { id: "form-title" }),
    make("p", { id: "coin", className: "hint" }),
    make("div", { id: "fields" }),
    buttons(said("button", "form.draw", { id: "draw" })),
    status("drawing"),
    said("p", "form.not-yet", { className: "hint" }),
  );
  const answering = form("form", asked);
  answering.hidden = true;
  answering.setAttribute("aria-labelledby", "form-title");

  const again = form("again", make("div", { id: "again-field" }), buttons(said("button", "ticket.use")));
  again.hidden = true;
  again.setAttribute("aria-label", visit.say("ticket.another"));
  const sends = buttons(
    said("button", "ready.send", { id: "send" }),
    said("button", "ready.stop", { id: "stop", className: "second", type: "button", hidden: true }),
  );
  sends.id = "send-buttons";
  const counted = details(
    "counted",
    "thanks.check",
    said("p", "thanks.ask"),
    buttons(said("button", "thanks.button", { id: "recheck", type: "button" })),
    status("rechecked"),
    make("p", { id: "counted-list" }),
    make(
      "div",
      { id: "proof", hidden: true },
      said("p", "thanks.seal"),
      buttons(said("button", "thanks.prove", { id: "prove", type: "button" })),
      status("proved"),
    ),
  );
  counted.hidden = true;
  const ready = section(
    "ready",
    make(visit.part, { id: "ready-title", tabIndex: -1 }),
    make("p", { id: "ready-text" }),
    make("pre", { dir: "ltr" }, make("code", { id: "bytes" })),
    make("p", { id: "ready-more", className: "hint" }),
    said("p", "ready.rather-not", { id: "rather-not", className: "hint" }),
    sends,
    status("sending"),
    again,
    make("p", { id: "results", hidden: true }),
    counted,
    details(
      "remembered",
      "memory.title",
      make("dl", { id: "memory" }),
      said("p", "memory.forgotten"),
      said("p", "memory.keep"),
    ),
  );
  return [
    lead,
    status("status", { tabIndex: -1 }),
    make("div", { id: "problem", className: "wrong", role: "alert", hidden: true }),
    who,
    privacy,
    answering,
    ready,
  ];
}
