// Client side of the page: sliders write into their fields, and changed fields lead to a new request
// as soon as the previous one is answered. All computations are in Python.
(function () {
  "use strict";
  const QUIET = 300; // [ms] after the last answer, until the slower results are requested
  const SLOW = 400; // [ms] after which the page shows that a computation is running
  const LOST = 10000; // [ms] after which an answer is considered lost
  // Motions to which a field applies; null: if stops are given.
  const SHOWN = {
    drive: ["drive"], speed: ["circles", "mowing"], radius: ["circles"], length: ["mowing"],
    width: ["mowing"], given: null,
  };
  const dash = () => window.dash_clientside;
  const nothing = () => dash().no_update;
  // Identifies the page for the server, which drops all questions except the newest of a page.
  const page = Math.random().toString(36).slice(2);
  const state = { asked: null, wanted: null, since: 0, number: 0, timer: null, placed: {} };

  function triggered() {
    const names = dash().callback_context.triggered || [];
    return names.map((one) => one.prop_id.split(".")[0]);
  }

  // Status text during longer computations, which screen readers read aloud.
  function say(text) {
    const busy = document.getElementById("busy");
    if (busy) busy.textContent = text;
  }

  // A slider has the label and the value of its field.
  function name_sliders(texts) {
    for (const [name, text] of Object.entries(texts)) {
      const handle = document.querySelector(`#slider-${name} [role=slider]`);
      const label = document.querySelector(`label[for="${name}"]`);
      if (!handle || !label) continue;
      handle.setAttribute("aria-label", label.textContent);
      handle.setAttribute("aria-valuetext", text);
    }
  }

  function ask() {
    if (state.asked !== null && performance.now() - state.since < LOST) return;
    if (state.wanted === null || state.wanted === state.asked) return;
    state.asked = state.wanted;
    state.since = performance.now();
    state.number += 1;
    const data = { page, number: state.number, texts: JSON.parse(state.asked) };
    dash().set_props("asked", { data });
    window.setTimeout(() => { if (state.asked !== null) say("computing ..."); }, SLOW);
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    explore: {
      // A slider has moved: update its field.
      slid: function (...values) {
        const scales = values.pop();
        const names = Object.keys(scales);
        for (const id of triggered()) {
          const name = id.slice("slider-".length);
          const place = values[names.indexOf(name)];
          if (state.placed[name] === place) { delete state.placed[name]; continue; }
          if (scales[name]) dash().set_props(name, { value: scales[name][place] });
        }
        return nothing();
      },
      // A field has changed.
      wants: function (...values) {
        const names = values.pop();
        const texts = {};
        names.forEach((name, place) => {
          const value = values[place];
          texts[name] = Array.isArray(value) ? value.join(",") : String(value ?? "");
        });
        for (const [part, motions] of Object.entries(SHOWN)) {
          const visible = motions ? motions.includes(texts.motion) : texts.stops === "given";
          const box = document.getElementById("box-" + part);
          if (box) box.style.display = visible ? "" : "none";
        }
        name_sliders(texts);
        state.wanted = JSON.stringify(texts);
        ask();
        return nothing();
      },
      // An answer has arrived.
      answered: function (shown) {
        if (!shown) return nothing();
        const scales = shown.places || {};
        for (const name of Object.keys(scales)) {
          state.placed[name] = scales[name];
          dash().set_props("slider-" + name, { value: scales[name] });
        }
        // Errors in the address are irrelevant once a setting has been changed.
        if (shown.number > 1) dash().set_props("unread", { children: "" });
        const asked = state.asked;
        state.asked = null;
        window.clearTimeout(state.timer);
        document.body.classList.toggle("refused", !shown.accepted);
        say(shown.accepted ? "counting drives ..." : "");
        if (shown.accepted) {
          const address = window.location.pathname + (shown.address ? "?" + shown.address : "");
          window.history.replaceState(null, "", address);
          document.body.classList.add("drawing");
        }
        if (state.wanted !== asked) { ask(); return nothing(); }
        if (shown.accepted) {
          state.timer = window.setTimeout(
            () => dash().set_props(
              "rested", { data: { page, number: shown.number, texts: JSON.parse(asked) } }),
            QUIET);
        }
        return nothing();
      },
      drawn: function (number) {
        if (number === state.number) {
          document.body.classList.remove("drawing");
          say("");
        }
        return nothing();
      },
    },
  });
})();
