// What the page does by itself: sliders write into their fields, and what the fields say is asked
// for again as soon as the last answer is there. The mathematics is in Python.
(function () {
  "use strict";
  const QUIET = 300; // [ms] after the last answer, until what takes longer is asked for
  const SLOW = 400; // [ms] after which it is said that something is computed
  const LOST = 10000; // [ms] after which an answer does not come any more
  // The motions for which a field has a meaning; null: where stops are given.
  const SHOWN = {
    drive: ["drive"], speed: ["circles", "mowing"], radius: ["circles"], length: ["mowing"],
    width: ["mowing"], given: null,
  };
  const dash = () => window.dash_clientside;
  const nothing = () => dash().no_update;
  // The server tells pages by this: a question that is not the newest of its page is given up.
  const page = Math.random().toString(36).slice(2);
  const state = { asked: null, wanted: null, since: 0, number: 0, timer: null, placed: {} };

  function triggered() {
    const names = dash().callback_context.triggered || [];
    return names.map((one) => one.prop_id.split(".")[0]);
  }

  // A word on what takes longer than a moment; read aloud, since it is a status.
  function say(text) {
    const busy = document.getElementById("busy");
    if (busy) busy.textContent = text;
  }

  // A slider is named by the label of its field, and says what the field says.
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
      // A slider has moved: its field says so.
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
      // A field says something else.
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
      // An answer is there.
      answered: function (shown) {
        if (!shown) return nothing();
        const scales = shown.places || {};
        for (const name of Object.keys(scales)) {
          state.placed[name] = scales[name];
          dash().set_props("slider-" + name, { value: scales[name] });
        }
        // What an address has wrong is of no interest once something is set.
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
