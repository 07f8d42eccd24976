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
func (g *ChatGPT) Truth() providersim.Truth { return g.expectedTruth(false) }

// ExportTruth is what a complete reading of the export stores: there are no memories, instructions and own GPTs in it.
func (g *ChatGPT) ExportTruth() providersim.Truth { return g.expectedTruth(true) }

func (g *ChatGPT) expectedTruth(export bool) providersim.Truth {
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
		if !c.existsIn(g.cfg.Workspace) {
			continue
		}
		add(StreamConversations, c.chatID(), map[string]any{
			"id": c.chatID(), "title": textOrNull(c.title), "create_time": formatISOTime(c.created),
			"update_time": formatISOTime(c.updated),
			"is_archived": c.archived,
			"is_starred":  c.starred, "workspace_id": textOrNull(c.workspace), "current_node": c.nodeIDAt(c.current),
			"message_count_on_current_branch": c.branchMessageCount(), "gizmo_id": textOrNull(c.projectOrGPT()),
		})
		branch := c.currentBranch()
		for j := range c.nodes {
			if c.nodes[j].role != "" {
				add(StreamMessages, c.nodeIDAt(j), c.expectedMessage(j, branch[j]))
			}
		}
	}
	for _, t := range g.shares {
		if t.deleted {
			continue
		}
		share := map[string]any{
			"id": shareIDAt(t.n), "conversation_id": g.chats[t.chat].chatID(), "share_url": "https://chatgpt.com/share/" +
				shareIDAt(t.n), "title": t.text,
			"created_at": formatISOTime(t.created), "anonymous": t.n%2 == 0, "is_public": true, "highlighted_text": nil,
		}
		if export {
			share["created_at"], share["is_public"] = nil, nil
		}
		add(StreamShares, shareIDAt(t.n), share)
	}
	if export {
		return out
	}
	for _, t := range g.memories {
		if !t.deleted {
			add(StreamMemories, numberedID("memory", t.n),
				map[string]any{"id": numberedID("memory", t.n), "content": t.text, "created_at": formatISOTime(t.created),
					"updated_at": formatISOTime(t.updated)})
		}
	}
	for _, t := range g.gpts {
		if !t.deleted {
			add(StreamGPTs, gptIDAt(t.n), map[string]any{
				"id": gptIDAt(t.n), "short_url": gptIDAt(t.n) + "-helper", "display_name": "Helper " + strconv.Itoa(t.n),
				"display_description":     t.text,
				"display_welcome_message": "Hello", "instructions": "Help with " + t.text,
				"tools":      []any{map[string]string{"id": "t1", "type": "browser"}},
				"created_at": formatISOTime(t.created), "updated_at": formatISOTime(t.updated), "author_id": "user-rowan-01",
				"author_name": "Rowan Ashgrove",
				"is_public":   false, "category": "other", "tags": []string{"private"},
			})
		}
	}
	add(StreamInstructions, "custom_instructions", map[string]any{
		"id": "custom_instructions", "about_user": g.custom.about, "response_style": g.custom.style,
		"enabled": g.custom.enabled, "updated_at": nil,
	})
	return out
}

func (c *simChat) currentBranch() map[int]bool {
	on := map[int]bool{}
	for i := c.current; i >= 0; i = c.nodes[i].parent {
		on[i] = true
	}
	return on
}

// branchMessageCount counts the messages of the current branch.
func (c *simChat) branchMessageCount() int {
	count := 0
	for i := range c.currentBranch() {
		if c.nodes[i].role != "" {
			count++
		}
	}
	return count
}

// expectedMessage is a message as the stream declares it.
func (c *simChat) expectedMessage(i int, onBranch bool) any {
	n := c.nodes[i]
	children := []string{}
	for j := range c.nodes {
		if c.nodes[j].parent == i {
			children = append(children, c.nodeIDAt(j))
		}
	}
	out := map[string]any{
		"id": c.nodeIDAt(i), "conversation_id": c.chatID(), "parent_id": c.nodeIDAt(n.parent), "children_ids": children,
		"role":    n.role,
		"content": n.expectedText(), "content_type": n.kind, "model_slug": textOrNull(n.model), "create_time": nil,
		"finish_reason": nil,
		"citations":     []any{},
		"tool_calls":    []any{}, "attachment_ids": []string{}, "on_current_branch": onBranch,
	}
	if !n.at.IsZero() {
		out["create_time"] = formatISOTime(n.at)
	}
	if n.model != "" {
		out["finish_reason"] = "stop"
	}
	if n.cites {
		out["citations"] = []any{sampleCitation}
	}
	if n.file != "" {
		out["attachment_ids"] = []string{n.file, n.file + "_b"}
	}
	if n.to != "" && n.role == "assistant" {
		out["tool_calls"] = []any{map[string]string{"recipient": n.to}}
	}
	return out
}

// expectedText returns the expected text of a message. Text over 1 MiB is cut.
func (n treeNode) expectedText() any {
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
	return textOrNull(s)
}
