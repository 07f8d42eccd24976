package chatgpt

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// mutationTick is how far the logical clock moves per change.
const mutationTick = time.Second + 3*time.Microsecond

// Mutate changes the account. With N: add_chats, touch_chats, delete_chats, linger_chats (deleted, and the
// row stays), forget_rows (lingering rows go), archive_chats, move_chats (to a project), add_memories, delete_memories,
// add_gpts, delete_gpts, add_shares, delete_shares, edit_instructions.
func (g *ChatGPT) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := providersim.Mutated{Op: m.Op}
	if m.N < 1 || m.N > 100_000 {
		return out, fmt.Errorf("mutation %s: n must be 1 to 100000", m.Op)
	}
	chats := func(change func(*simChat)) {
		for range m.N {
			c := g.pickChat(m.Op == "forget_rows")
			if c == nil {
				return
			}
			change(c)
			out.IDs = append(out.IDs, c.chatID())
		}
	}
	things := func(list *[]accountThing, drop bool) {
		for range m.N {
			g.clock = g.clock.Add(mutationTick)
			if !drop {
				t := g.generateThing(len(*list))
				t.created, t.updated = g.clock, g.clock
				*list = append(*list, t)
				continue
			}
			for i := range *list {
				if !(*list)[i].deleted {
					(*list)[i].deleted = true
					break
				}
			}
		}
	}
	switch m.Op {
	case "add_chats":
		for range m.N {
			g.clock = g.clock.Add(mutationTick)
			c := g.generateChat(g.clock)
			c.workspace = g.cfg.Workspace
			out.IDs = append(out.IDs, c.chatID())
		}
	case "touch_chats":
		chats(func(c *simChat) {
			c.nodes = append(c.nodes, treeNode{parent: c.current, role: "user", kind: "text",
				text: fmt.Sprintf("And another thing, %d.", len(c.nodes)), at: g.clock})
			c.current, c.updated = len(c.nodes)-1, g.clock
		})
	case "delete_chats":
		chats(func(c *simChat) { c.deleted = true })
	case "linger_chats":
		chats(func(c *simChat) { c.deleted, c.lingers, c.updated = true, true, g.clock })
	case "hide_chats":
		chats(func(c *simChat) { c.unlisted = true })
	case "forget_rows":
		chats(func(c *simChat) { c.lingers = false })
	case "archive_chats":
		chats(func(c *simChat) { c.archived, c.updated = true, g.clock })
	case "move_chats":
		if g.cfg.Projects == 0 {
			return out, fmt.Errorf("there is no project")
		}
		chats(func(c *simChat) { c.project, c.updated = c.n%g.cfg.Projects, g.clock })
	case "add_memories", "delete_memories":
		things(&g.memories, m.Op == "delete_memories")
	case "add_gpts", "delete_gpts":
		things(&g.gpts, m.Op == "delete_gpts")
	case "add_shares", "delete_shares":
		things(&g.shares, m.Op == "delete_shares")
	case "edit_instructions":
		g.custom.about += " And hens."
	default:
		return out, fmt.Errorf("unknown mutation %q", m.Op)
	}
	out.Now = g.clock
	return out, nil
}

// pickChat returns a chat of the account's workspace that can still change.
func (g *ChatGPT) pickChat(lingering bool) *simChat {
	var pool []*simChat
	for i := range g.chats {
		c := &g.chats[i]
		if lingering && c.lingers || !lingering && c.existsIn(g.cfg.Workspace) && !c.archived {
			pool = append(pool, c)
		}
	}
	if len(pool) == 0 {
		return nil
	}
	g.clock = g.clock.Add(mutationTick)
	g.picks++
	return pool[mixSeeds(g.cfg.Seed+g.picks, 99)%uint64(len(pool))]
}
