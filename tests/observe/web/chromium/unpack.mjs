// Unpacks the browser, and the few libraries it needs beyond those of any
// system, into the folder named by TMPDIR.
import path from "node:path";

const here = path.join(process.cwd(), "node_modules/@sparticuz/chromium");
const { default: chromium, inflate } = await import(path.join(here, "build/index.js"));
await inflate(path.join(here, "bin/al2023.tar.br"));
console.log(await chromium.executablePath());
