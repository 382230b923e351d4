// A server on the TypeScript SDK 1.x. Copied beside its packages before it runs.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'peer', version: '1.0.0' });
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const alert = 'Event: storm\nArea: "north" of the Rio Grande, near Cañón\nNotes: up to 40 °C ⚡ 🌪\n';

server.registerTool(
  'get_alerts',
  { description: 'Weather alerts of a state, made up and long.', inputSchema: { state: z.string() } },
  async ({ state }) => text(`Alerts for ${state}\n` + Array(500).fill(alert).join('---\n')),
);
server.registerTool('boom', { description: 'Always fails.' }, async () => {
  throw new Error('boom, as asked');
});
server.registerTool(
  'slow',
  { description: 'Sleeps.', inputSchema: { seconds: z.number() } },
  async ({ seconds }) => {
    await new Promise((done) => setTimeout(done, seconds * 1000));
    return text('slept');
  },
);
await server.connect(new StdioServerTransport());
