// Drives a server by a client of the TypeScript SDK 2.x: MODE PLAN -- COMMAND ARGS… (see py.py for plan and output).
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [modeText, planText, , command, ...args] = process.argv.slice(2);
const mode = modeText.startsWith('2') ? { pin: modeText } : modeText;
const client = new Client({ name: 'peer', version: '1.0.0' }, { versionNegotiation: { mode } });
await client.connect(new StdioClientTransport({ command, args }));
const out = { version: client.getProtocolEra?.() ?? 'unknown' };
for (const [step, call] of JSON.parse(planText)) {
  if (call === null) {
    out[step] = { names: (await client.listTools()).tools.map((tool) => tool.name) };
    continue;
  }
  const [name, given] = call;
  try {
    const timeout = step === 'timeout' ? 2000 : 30000;
    const result = await client.callTool({ name, arguments: given }, { timeout });
    out[step] = { text: result.content.map((b) => b.text ?? '').join(''), failed: result.isError === true };
  } catch (error) {
    const late = error.code === -32001 || /timed out/i.test(String(error));
    out[step] = late ? { timeout: true } : { code: error.code, message: String(error) };
  }
}
console.log(JSON.stringify(out));
await client.close();
