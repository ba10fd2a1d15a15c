// Applies the stored theme before anything is painted.
try {
  const chosen = localStorage.getItem("wc-colours");
  if (chosen) document.documentElement.dataset.colours = chosen;
} catch {
  // Storage is off: use the system's theme.
}
