package chatgpt

import (
	"fmt"
	"strings"
	"time"
)

var (
	sampleTitles = []string{"Trip to the coast", "Bread that rises", "A letter to the council", "Sorting photographs",
		"Why is the sky", "Chess openings", "Tax on a shed", "Names for a goat"}
	sampleLines = []string{"Could you look at this?", "Here is what I would do first.", "It did not work.",
		"Then try it the other way round.", "Thank you, that helps.",
		"One more thing \u2028 about it: 漢字, naïve, \U0001F407."}
	contentKinds = []string{"text", "multimodal_text", "code", "execution_output", "thoughts", "reasoning_recap",
		"tether_quote",
		"tether_browsing_display", "model_editable_context", "user_editable_context", "system_error", "hologram"}
)

// generateAccount makes the account. Chats get older with their number.
func (g *ChatGPT) generateAccount(cfg Config) {
	for n := range cfg.Chats {
		g.generateChat(cfg.Start.Add(-time.Duration(n)*17*time.Minute - time.Duration(mixSeeds(uint64(n),
			3)%1000)*time.Microsecond))
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
		g.memories = append(g.memories, g.generateThing(n))
	}
	for n := range cfg.GPTs {
		g.gpts = append(g.gpts, g.generateThing(n))
	}
	for n := range cfg.Shares {
		t := g.generateThing(n)
		t.chat = n % max(1, cfg.Chats)
		g.shares = append(g.shares, t)
	}
	g.custom = instructions{"I keep goats.", "Short, please.", true}
}

func (g *ChatGPT) generateThing(n int) accountThing {
	at := g.start.Add(-time.Duration(n) * 3 * time.Hour)
	return accountThing{n: n, text: fmt.Sprintf("%s (%d)", sampleLines[n%len(sampleLines)], n), created: at,
		updated: at.Add(time.Minute)}
}

// generateChat makes a chat that was last updated then.
func (g *ChatGPT) generateChat(updated time.Time) *simChat {
	n := len(g.chats)
	c := simChat{
		n: n, title: fmt.Sprintf("%s %d", sampleTitles[n%len(sampleTitles)], n), created: updated.Add(-time.Hour),
		updated: updated,
		starred: n%9 == 1, project: -1,
	}
	if n%13 == 6 {
		c.title = "" // some have none
	}
	if n%10 == 3 {
		c.gizmo = "g-" + strings.ReplaceAll(numberedID("gpt", n%4), "-", "")[:9]
	}
	c.nodes = []treeNode{{parent: -1}, {parent: 0, role: "system", kind: "text"}}
	last := 1
	for i := range 2 + n%4 {
		at := c.created.Add(time.Duration(i+1) * time.Minute)
		c.nodes = append(c.nodes, treeNode{parent: last, role: "user", kind: "text",
			text: sampleLines[(n+i)%len(sampleLines)], at: at})
		user := len(c.nodes) - 1
		if i == 1 && n%3 == 0 { // the question was edited: a branch that is not shown
			c.nodes = append(c.nodes, treeNode{parent: last, role: "user", kind: "text", text: "No: " +
				sampleLines[n%len(sampleLines)],
				at: at.Add(time.Second)})
			user = len(c.nodes) - 1
		}
		kind := contentKinds[(n*3+i)%len(contentKinds)]
		answer := treeNode{parent: user, role: "assistant", kind: kind, text: sampleLines[(n+i+1)%len(sampleLines)],
			at: at.Add(30 * time.Second), model: "model-5"}
		switch kind {
		case "code":
			answer.to = "python"
		case "execution_output", "tether_browsing_display":
			answer.role, answer.at = "tool", time.Time{}
		case "multimodal_text":
			answer.file = "file_" + strings.ReplaceAll(numberedID("file", n), "-", "")[:12]
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
