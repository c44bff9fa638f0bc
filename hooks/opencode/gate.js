// gate hook 1 opencode
// Written by `gate init`: hands OpenCode's events to `gate hook opencode EVENT` and does what it answers.
import { spawn } from "node:child_process"

const GATE = @BINARY@
const PATIENCE = 30_000
// An abort is told a moment after the session went idle.
const ABORT_RACE = 1_500

const ask = (event, payload, cwd) =>
  new Promise((resolve) => {
    const env = { ...process.env, PATH: [process.env.PATH, GATE].filter(Boolean).join(":") }
    const child = spawn("gate", ["hook", "opencode", event], { cwd, env, stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), PATIENCE)
    let out = ""
    // Whatever goes wrong, the agent goes on.
    const done = (value) => { clearTimeout(timer); resolve(value) }
    child.on("error", () => done({}))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk) => { out += chunk })
    child.on("close", () => { try { done(JSON.parse(out)) } catch { done({}) } })
    child.stdin.end(JSON.stringify(payload))
  })

const text = (parts) => (parts ?? []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

export const Gate = async ({ client, directory, worktree }) => {
  const root = worktree && worktree !== "/" ? worktree : directory
  const sessions = new Map()
  const about = async (id) => {
    if (!sessions.has(id)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      sessions.set(id, { parentID: found?.data?.parentID })
    }
    return { sessionID: id, directory, parentID: sessions.get(id).parentID }
  }
  const last = async (id) => {
    const found = await client.session.messages({ path: { id } }).catch(() => undefined)
    const said = (found?.data ?? []).filter((message) => message.info?.role === "assistant").at(-1)
    return { messageID: said?.info?.id, agent: said?.info?.agent ?? said?.info?.mode, text: text(said?.parts), error: said?.info?.error?.name }
  }
  return {
    "chat.message": async (input, output) => {
      // What gate says at the start of a session comes with its first message.
      await sessions.get(input.sessionID)?.started
      const payload = { ...(await about(input.sessionID)), agent: output.message?.agent, text: text(output.parts) }
      const answer = await ask("chat.message", payload, root)
      const last = output.parts?.at(-1)
      // For the agent alone: the person's own text stays as it is.
      if (answer.additionalContext && last)
        output.parts.push({ ...last, id: `${last.id}0`, type: "text", text: answer.additionalContext, synthetic: true, metadata: { gate: true } })
    },
    "tool.execute.before": async (input, output) => {
      const payload = { ...(await about(input.sessionID)), tool: input.tool, callID: input.callID, args: output.args }
      const answer = await ask("tool.execute.before", payload, root)
      if (answer.decision === "deny") throw new Error(answer.reason)
    },
    "tool.execute.after": async (input, output) => {
      const { exit } = output.metadata ?? {}
      const payload = { ...(await about(input.sessionID)), tool: input.tool, callID: input.callID, args: input.args, output: output.output, metadata: { exit } }
      await ask("tool.execute.after", payload, root)
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      if (!id) return
      if (event.type === "session.created") {
        const session = { parentID: event.properties.info?.parentID }
        sessions.set(id, session)
        session.started = ask(event.type, await about(id), root)
        await session.started
      } else if (event.type === "session.compacted" || event.type === "session.deleted") {
        await ask(event.type, await about(id), root)
      } else if (event.type === "session.error") {
        await ask(event.type, { ...(await about(id)), error: event.properties.error?.name }, root)
      } else if (event.type === "session.idle") {
        await new Promise((resolve) => setTimeout(resolve, ABORT_RACE))
        const payload = { ...(await about(id)), ...(await last(id)) }
        const answer = await ask(event.type, payload, root)
        if (answer.decision === "block") {
          // So that its log shows that no person wrote this.
          const part = { type: "text", text: answer.reason, metadata: { gate: true } }
          // The user may route refused work to another model.
          const model = answer.model && { model: answer.model }
          await client.session.promptAsync({ path: { id }, body: { parts: [part], ...model } })
        }
      }
    },
  }
}
