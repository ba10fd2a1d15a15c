// Before anything is painted: the colours that were chosen here before.
try {
  const chosen = localStorage.getItem("wc-colours");
  if (chosen) document.documentElement.dataset.colours = chosen;
} catch {
  // Storage is off: as the system is.
}
