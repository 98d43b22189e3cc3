// Set the dark or light theme before the page is drawn. A module would run too late for that.
"use strict";
{
  let theme = null;
  try {
    theme = JSON.parse(localStorage.getItem("dealtable.theme"));
  } catch {
    // A browser that keeps nothing follows the system.
  }
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}
