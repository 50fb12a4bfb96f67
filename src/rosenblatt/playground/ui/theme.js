// Dark or light: the system's choice until the reader makes one.

import { announce } from "./node.js";

export function startTheme(button) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const name = () => button.setAttribute("aria-label", isDark() ? "Light theme" : "Dark theme");
  try {
    const kept = localStorage.getItem("theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch {
    // Storage may be forbidden: the theme is then chosen anew on each visit.
  }
  dark.addEventListener("change", name);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // As above.
    }
    name();
    announce(`${root.dataset.theme} theme`);
  });
  name();
}
