package chatgpt

import (
	"fmt"
	"strings"
	"time"
)

var (
	titles = []string{"Trip to the coast", "Bread that rises", "A letter to the council", "Sorting photographs", "Why is the sky", "Chess openings", "Tax on a shed", "Names for a goat"}
	lines  = []string{"Could you look at this?", "Here is what I would do first.", "It did not work.", "Then try it the other way round.", "Thank you, that helps.", "One more thing \u2028 about it: 漢字, naïve, \U0001F407."}
	kinds  = []string{"text", "multimodal_text", "code", "execution_output", "thoughts", "reasoning_recap", "tether_quote",
		"tether_browsing_display", "model_editable_context", "user_editable_context", "system_error", "hologram"}
)

// generate makes the account. Chats get older with their number.
func (g *ChatGPT) generate(cfg Config) {
	for n := range cfg.Chats {
		g.addChat(cfg.Start.Add(-time.Duration(n)*17*time.Minute - time.Duration(mix(uint64(n), 3)%1000)*time.Microsecond))
	}
	for n := range cfg.Chats {
		c := &g.chats[n]
		switch {
		case n%11 == 4:
			c.archived = true
		case n%5 == 2 && cfg.Projects > 0:
			c.project = n % cfg.Projects
		}
		c.workspace = cfg.Workspace
		if cfg.Workspace != "" && n%7 == 0 {
			c.workspace = "" // these are the person's own
		}
	}
	if cfg.Long && cfg.Chats > 0 {
		c := &g.chats[0]
		c.nodes[len(c.nodes)-1].text = strings.Repeat("All of it, again. ", 70_000)
	}
	for n := range cfg.Memories {
		g.memories = append(g.memories, g.thing(n))
	}
	for n := range cfg.GPTs {
		g.gpts = append(g.gpts, g.thing(n))
	}
	for n := range cfg.Shares {
		t := g.thing(n)
		t.chat = n % max(1, cfg.Chats)
		g.shares = append(g.shares, t)
	}
	g.custom = instructions{"I keep goats.", "Short, please.", true}
}

func (g *ChatGPT) thing(n int) thing {
	at := g.start.Add(-time.Duration(n) * 3 * time.Hour)
	return thing{n: n, text: fmt.Sprintf("%s (%d)", lines[n%len(lines)], n), created: at, updated: at.Add(time.Minute)}
}

// addChat makes a chat that was last updated then.
func (g *ChatGPT) addChat(updated time.Time) *chat {
	n := len(g.chats)
	c := chat{
		n: n, title: fmt.Sprintf("%s %d", titles[n%len(titles)], n), created: updated.Add(-time.Hour), updated: updated,
		starred: n%9 == 1, project: -1,
	}
	if n%13 == 6 {
		c.title = "" // some have none
	}
	if n%10 == 3 {
		c.gizmo = "g-" + strings.ReplaceAll(id("gpt", n%4), "-", "")[:9]
	}
	c.nodes = []node{{parent: -1}, {parent: 0, role: "system", kind: "text"}}
	last := 1
	for i := range 2 + n%4 {
		at := c.created.Add(time.Duration(i+1) * time.Minute)
		c.nodes = append(c.nodes, node{parent: last, role: "user", kind: "text", text: lines[(n+i)%len(lines)], at: at})
		user := len(c.nodes) - 1
		if i == 1 && n%3 == 0 { // the question was edited: a branch that is not shown
			c.nodes = append(c.nodes, node{parent: last, role: "user", kind: "text", text: "No: " + lines[n%len(lines)], at: at.Add(time.Second)})
			user = len(c.nodes) - 1
		}
		kind := kinds[(n*3+i)%len(kinds)]
		answer := node{parent: user, role: "assistant", kind: kind, text: lines[(n+i+1)%len(lines)], at: at.Add(30 * time.Second), model: "model-5"}
		switch kind {
		case "code":
			answer.to = "python"
		case "execution_output", "tether_browsing_display":
			answer.role, answer.at = "tool", time.Time{}
		case "multimodal_text":
			answer.file = "file_" + strings.ReplaceAll(id("file", n), "-", "")[:12]
		case "text":
			answer.cites = n%2 == 0
		}
		c.nodes = append(c.nodes, answer)
		last = len(c.nodes) - 1
	}
	c.current = last
	g.chats = append(g.chats, c)
	return &g.chats[n]
}
