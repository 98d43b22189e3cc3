"""Pages behind others. A browser without a screen shows every page; a test names hidden ones."""

LEFT_S = 25
"""A page that is hidden so long lets its stream go."""
HIDES = """
window.away = false;
Object.defineProperty(document, "hidden", { get: () => window.away });
"""
SEEN = """(seen) => {
  window.away = !seen;
  document.dispatchEvent(new Event("visibilitychange"));
}"""
