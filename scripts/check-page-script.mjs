// Checks the in-page script (src/page/script/*.js) with TypeScript: types, names, and that each file's `// Uses:` line
// names the files whose definitions it uses. `--fix` rewrites these lines.
// Argument: the folder of the `typescript` package.
import { createRequire } from "node:module";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const ts = createRequire(import.meta.url)(path.resolve(process.argv[2]));
const fix = process.argv.includes("--fix");
const folder = path.resolve("src/page/script");
const files = readdirSync(folder).filter((name) => name.endsWith(".js") || name.endsWith(".d.ts")).sort();
const options = {
  allowJs: true, checkJs: true, noEmit: true, skipLibCheck: true, types: [],
  target: ts.ScriptTarget.ES2023, moduleDetection: ts.ModuleDetectionKind.Legacy,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
};
const program = ts.createProgram(files.map((name) => path.join(folder, name)), options);
const problems = ts.getPreEmitDiagnostics(program).map((diagnostic) => {
  const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
  if (!diagnostic.file) return text;
  const { line } = diagnostic.file.getLineAndCharacterOfPosition(diagnostic.start);
  return `${path.relative(".", diagnostic.file.fileName)}:${line + 1}: ${text}`;
});

const checker = program.getTypeChecker();
for (const name of files.filter((name) => name.endsWith(".js"))) {
  const source = program.getSourceFile(path.join(folder, name));
  const uses = new Set();
  const visit = (node) => {
    if (ts.isIdentifier(node)) {
      const shorthand = ts.isShorthandPropertyAssignment(node.parent);
      const symbol = shorthand ? checker.getShorthandAssignmentValueSymbol(node.parent) : checker.getSymbolAtLocation(node);
      for (const declaration of symbol?.declarations ?? []) {
        const from = declaration.getSourceFile().fileName;
        const isTop = declaration.parent === declaration.getSourceFile() || declaration.parent?.parent?.parent === declaration.getSourceFile();
        if (isTop && path.dirname(from) === folder && from.endsWith(".js") && path.basename(from) !== name) uses.add(path.basename(from, ".js"));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const wanted = uses.size ? `// Uses: ${[...uses].sort().join(", ")}.` : "// Uses: nothing.";
  const text = readFileSync(path.join(folder, name), "utf8");
  const line = text.match(/^\/\/ Uses: .*$/m)?.[0];
  if (line === wanted) continue;
  if (!fix) {
    problems.push(`src/page/script/${name}: the line should be "${wanted}"; run scripts/check-page-script.sh --fix`);
    continue;
  }
  const head = text.match(/^(\/\/.*\n)+/)?.[0] ?? "";
  const rest = text.slice(head.length);
  const kept = head.split("\n").filter((other) => other && !other.startsWith("// Uses: "));
  writeFileSync(path.join(folder, name), [...kept, wanted].join("\n") + "\n" + rest);
}

for (const problem of problems) console.error(problem);
process.exit(problems.length ? 1 : 0);
