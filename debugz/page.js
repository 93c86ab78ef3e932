"use strict";
(() => {
  const status = document.getElementById("status");
  const pause = document.getElementById("pause");
  const every = Number(document.body.dataset.refresh) * 1000;
  const sorts = new Map(); // table -> {column, down}
  const unfolded = new Map(); // key of a tbody -> whether the reader wants to see its parts
  let paused = false, asking = false, answered = Date.now(), timer = 0, next = every;

  const keyOf = (cell) => cell === undefined ? "" : cell.dataset.v ?? cell.textContent.trim();

  function compare(a, b) {
    const x = Number(a), y = Number(b);
    return a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y) ? x - y : a.localeCompare(b);
  }

  // order sorts the tables as the reader wants them; what he doesn't care for stays as the server sent it.
  function order(root) {
    for (const table of root.querySelectorAll("table.sorts")) {
      const by = sorts.get(table.id), cells = [...table.tHead.rows[0].cells];
      cells.forEach((th, column) => {
        if (by && by.column === column) th.setAttribute("aria-sort", by.down ? "descending" : "ascending");
        else th.removeAttribute("aria-sort");
      });
      const bodies = [...table.tBodies];
      bodies.forEach((body, i) => { body.dataset.place ??= i; });
      const cell = (body) => keyOf(body.rows[0].cells[by.column]);
      bodies.sort((a, b) => by && compare(cell(a), cell(b)) * (by.down ? -1 : 1) || a.dataset.place - b.dataset.place);
      table.append(...bodies);
    }
  }

  // dress puts into a page from the server what the reader has chosen.
  function dress(root) {
    for (const th of root.querySelectorAll("table.sorts th")) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...th.childNodes);
      th.append(button);
    }
    // From what is shown, not from its events: those come later than an update may.
    const opened = new Set([...document.querySelectorAll("details[open]")].map((node) => node.dataset.key));
    for (const node of root.querySelectorAll("details")) node.open = opened.has(node.dataset.key);
    for (const body of root.querySelectorAll("tbody[data-key]")) {
      if (unfolded.has(body.dataset.key)) body.classList.toggle("open", unfolded.get(body.dataset.key));
    }
    order(root);
  }

  // morph makes one tree like another and keeps what is alike, and with it focus, selection and scroll.
  function morph(old, now) {
    if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName) {
      old.replaceWith(now);
      return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== now.data) old.data = now.data;
      return;
    }
    for (const {name} of [...old.attributes]) if (!now.hasAttribute(name)) old.removeAttribute(name);
    for (const {name, value} of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const were = [...old.childNodes], are = [...now.childNodes];
    are.forEach((child, i) => i < were.length ? morph(were[i], child) : old.append(child));
    were.slice(are.length).forEach((child) => child.remove());
  }

  function show(page) {
    const now = page.getElementById("live");
    if (!now) throw new Error("this is another page");
    dress(now);
    morph(document.getElementById("live"), document.adoptNode(now));
    document.title = page.title;
    const icon = page.querySelector("link[rel=icon]");
    if (icon) document.querySelector("link[rel=icon]").href = icon.href;
  }

  const selecting = () => {
    const s = document.getSelection();
    return s && !s.isCollapsed && document.getElementById("live").contains(s.anchorNode);
  };

  function tell() {
    const silent = Date.now() - answered;
    const lost = !paused && silent > Math.max(3 * next, 3000);
    document.body.classList.toggle("lost", lost);
    status.textContent = paused ? "paused" : lost ? `no answer for ${Math.round(silent / 1000)} s: these are the last figures` : selecting() ? "paused while text is selected" : "live";
  }

  async function ask() {
    clearTimeout(timer);
    if (!asking && !paused && !document.hidden && !selecting()) {
      asking = true;
      const began = performance.now();
      try {
        const answer = await fetch("html", {cache: "no-store", signal: AbortSignal.timeout(10000)});
        if (!answer.ok) throw new Error(answer.statusText);
        const text = await answer.text();
        // Who is slow to answer is asked less often: looking must not be a load.
        next = Math.max(every, 10 * (performance.now() - began));
        if (!paused && !selecting()) show(new DOMParser().parseFromString(text, "text/html"));
        answered = Date.now();
      } catch (e) {
        console.warn(e);
      }
      asking = false;
    } else if (!asking) {
      answered = Date.now(); // nobody was asked
    }
    tell();
    clearTimeout(timer);
    timer = setTimeout(ask, next);
  }

  document.addEventListener("click", (e) => {
    const sort = e.target.closest("th button");
    if (sort) {
      const th = sort.closest("th"), table = th.closest("table");
      const was = sorts.get(table.id), first = th.classList.contains("n");
      if (!was || was.column !== th.cellIndex) sorts.set(table.id, {column: th.cellIndex, down: first});
      else if (was.down === first) sorts.set(table.id, {column: th.cellIndex, down: !first});
      else sorts.delete(table.id);
      order(document);
      return;
    }
    const unfold = e.target.closest(".unfold");
    if (unfold) {
      const body = unfold.closest("tbody");
      unfolded.set(body.dataset.key, body.classList.toggle("open"));
    }
  });
  document.addEventListener("visibilitychange", ask);
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.textContent = paused ? "Go on" : "Pause";
    ask();
  });

  document.body.classList.add("js");
  pause.hidden = false;
  dress(document.getElementById("live"));
  tell();
  timer = setTimeout(ask, every);
})();
