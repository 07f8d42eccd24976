package chatgpt

import (
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/providersim"
)

// Streams of [ChatGPT.Truth].
const (
	StreamConversations = "conversations"
	StreamMessages      = "messages"
	StreamMemories      = "memories"
	StreamGPTs          = "custom_gpts"
	StreamInstructions  = "custom_instructions"
	StreamShares        = "shared_conversations"
)

// Truth is everything that a complete collection of the account's workspace stores.
func (g *ChatGPT) Truth() providersim.Truth { return g.truth(false) }

// ExportTruth is what a complete reading of the export stores: there are no memories, instructions and own GPTs in it.
func (g *ChatGPT) ExportTruth() providersim.Truth { return g.truth(true) }

func (g *ChatGPT) truth(export bool) providersim.Truth {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := providersim.Truth{}
	add := func(stream, key string, data any) {
		if out[stream] == nil {
			out[stream] = map[string]providersim.Item{}
		}
		out[stream][key] = providersim.Item{Data: providersim.EncodeJSON(data)}
	}
	for i := range g.chats {
		c := &g.chats[i]
		if !c.live(g.cfg.Workspace) {
			continue
		}
		add(StreamConversations, c.id(), map[string]any{
			"id": c.id(), "title": text(c.title), "create_time": iso(c.created), "update_time": iso(c.updated), "is_archived": c.archived,
			"is_starred": c.starred, "workspace_id": text(c.workspace), "current_node": c.nodeID(c.current), "message_count_on_current_branch": c.shown(), "gizmo_id": text(c.gizmoID()),
		})
		branch := c.branch()
		for j := range c.nodes {
			if c.nodes[j].role != "" {
				add(StreamMessages, c.nodeID(j), c.stored(j, branch[j]))
			}
		}
	}
	for _, t := range g.shares {
		if t.deleted {
			continue
		}
		share := map[string]any{
			"id": shareID(t.n), "conversation_id": g.chats[t.chat].id(), "share_url": "https://chatgpt.com/share/" + shareID(t.n), "title": t.text,
			"created_at": iso(t.created), "anonymous": t.n%2 == 0, "is_public": true, "highlighted_text": nil,
		}
		if export {
			share["created_at"], share["is_public"] = nil, nil
		}
		add(StreamShares, shareID(t.n), share)
	}
	if export {
		return out
	}
	for _, t := range g.memories {
		if !t.deleted {
			add(StreamMemories, id("memory", t.n), map[string]any{"id": id("memory", t.n), "content": t.text, "created_at": iso(t.created), "updated_at": iso(t.updated)})
		}
	}
	for _, t := range g.gpts {
		if !t.deleted {
			add(StreamGPTs, gptID(t.n), map[string]any{
				"id": gptID(t.n), "short_url": gptID(t.n) + "-helper", "display_name": "Helper " + strconv.Itoa(t.n), "display_description": t.text,
				"display_welcome_message": "Hello", "instructions": "Help with " + t.text, "tools": []any{map[string]string{"id": "t1", "type": "browser"}},
				"created_at": iso(t.created), "updated_at": iso(t.updated), "author_id": "user-rowan-01", "author_name": "Rowan Ashgrove",
				"is_public": false, "category": "other", "tags": []string{"private"},
			})
		}
	}
	add(StreamInstructions, "custom_instructions", map[string]any{
		"id": "custom_instructions", "about_user": g.custom.about, "response_style": g.custom.style, "enabled": g.custom.enabled, "updated_at": nil,
	})
	return out
}

func (c *chat) branch() map[int]bool {
	on := map[int]bool{}
	for i := c.current; i >= 0; i = c.nodes[i].parent {
		on[i] = true
	}
	return on
}

// shown counts the messages of the current branch.
func (c *chat) shown() int {
	count := 0
	for i := range c.branch() {
		if c.nodes[i].role != "" {
			count++
		}
	}
	return count
}

// stored is a message as the stream declares it.
func (c *chat) stored(i int, onBranch bool) any {
	n := c.nodes[i]
	children := []string{}
	for j := range c.nodes {
		if c.nodes[j].parent == i {
			children = append(children, c.nodeID(j))
		}
	}
	out := map[string]any{
		"id": c.nodeID(i), "conversation_id": c.id(), "parent_id": c.nodeID(n.parent), "children_ids": children, "role": n.role,
		"content": n.said(), "content_type": n.kind, "model_slug": text(n.model), "create_time": nil, "finish_reason": nil, "citations": []any{},
		"tool_calls": []any{}, "attachment_ids": []string{}, "on_current_branch": onBranch,
	}
	if !n.at.IsZero() {
		out["create_time"] = iso(n.at)
	}
	if n.model != "" {
		out["finish_reason"] = "stop"
	}
	if n.cites {
		out["citations"] = []any{citation}
	}
	if n.file != "" {
		out["attachment_ids"] = []string{n.file, n.file + "_b"}
	}
	if n.to != "" && n.role == "assistant" {
		out["tool_calls"] = []any{map[string]string{"recipient": n.to}}
	}
	return out
}

// said are the words of a message. One of more than 1 MiB is cut.
func (n node) said() any {
	s := n.text
	switch n.kind {
	case "thoughts":
		s = "Thinking\n" + s
	case "tether_quote":
		s = "A page\n" + s + "\nhttps://example.org/page"
	case "user_editable_context":
		s += "\nBe brief."
	case "system_error":
		s = "tool_error\n" + s
	}
	const most, marker = 1 << 20, "\n[cut: the message is longer than 1 MiB]"
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most-len(marker)], "") + marker
	}
	return text(s)
}
