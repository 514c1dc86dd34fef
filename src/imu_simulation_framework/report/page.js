"use strict";
(function () {
  const PRINTED_WIDTH = 680; // pixels; width of A4 and Letter without margins
  const config = {
    responsive: true,
    displayModeBar: true,
    displaylogo: false,
    showTips: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  };
  // On a touch screen, dragging scrolls the page until zooming is selected by a button.
  const isTouchScreen = window.matchMedia("(pointer: coarse)").matches;
  const plots = [];

  function draw(place) {
    const figure = JSON.parse(document.getElementById(place.id + "-data").textContent);
    delete figure.layout.height;
    if (isTouchScreen) {
      figure.layout.dragmode = false;
    }
    plots.push(place);
    Plotly.newPlot(place, figure.data, figure.layout, config);
  }

  document.querySelectorAll(".plot").forEach(draw);

  // A figure in a collapsed section has no width when it is drawn, so it is resized on opening.
  document.querySelectorAll("details").forEach(function (part) {
    part.addEventListener("toggle", function () {
      part.querySelectorAll(".plot").forEach((place) => Plotly.Plots.resize(place));
    });
  });

  let opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.from(document.querySelectorAll("details:not([open])"));
    opened.forEach((part) => { part.open = true; });
    plots.forEach((place) => Plotly.relayout(place, {
      autosize: false, width: PRINTED_WIDTH, height: place.clientHeight,
    }));
  });
  window.addEventListener("afterprint", function () {
    opened.forEach((part) => { part.open = false; });
    plots.forEach((place) => Plotly.relayout(place, { autosize: true, width: null, height: null }));
  });
  document.documentElement.dataset.drawn = String(plots.length);
})();
