// Dark or light before anything is drawn: the one script that is no module, as it must not wait.
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
