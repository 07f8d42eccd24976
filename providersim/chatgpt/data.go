package chatgpt

import (
	"fmt"
	"strings"
	"time"
)

// simChat is one conversation.
type simChat struct {
	n         int // identity
	title     string
	created   time.Time
	updated   time.Time
	archived  bool
	starred   bool
	project   int // number of the project, or -1
	gizmo     string
	workspace string
	deleted   bool
	lingers   bool // its row stays although it is deleted
	unlisted  bool // no list shows it although it is there
	nodes     []treeNode
	current   int
}

// treeNode is one place in the tree. Node 0 is the root, which has no message.
type treeNode struct {
	parent int
	kind   string // content type
	role   string
	text   string
	at     time.Time // zero: unknown, as for system and tool messages
	model  string
	to     string
	file   string
	cites  bool
}

func numberedID(kind string, n int) string {
	a, b := mixSeeds(uint64(n)+1, saltOfText(kind)), mixSeeds(uint64(n)+7, saltOfText(kind)+1)
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(a), uint16(a>>32), uint16(a>>48)&0xfff, uint16(b)&0xfff,
		b>>16)
}

func (c *simChat) chatID() string { return numberedID("chat", c.n) }

func (c *simChat) nodeIDAt(i int) string { return numberedID("node", c.n*10_000+i) }

func projectIDAt(n int) string { return "g-p-" + strings.ReplaceAll(numberedID("project", n), "-", "") }

// projectOrGPT is the chat's project, else the GPT that it was made with.
func (c *simChat) projectOrGPT() string {
	if c.project >= 0 {
		return projectIDAt(c.project)
	}
	return c.gizmo
}

// existsIn reports whether the chat exists in the workspace.
func (c *simChat) existsIn(workspace string) bool { return !c.deleted && c.workspace == workspace }

// accountThing is a memory, an own GPT or a share.
type accountThing struct {
	n       int
	text    string
	created time.Time
	updated time.Time
	chat    int
	deleted bool
}

// instructions are the account's one set.
type instructions struct {
	about, style string
	enabled      bool
}

func saltOfText(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mixSeeds is splitmix64 over a seed and a salt.
func mixSeeds(n, salt uint64) uint64 {
	z := n*0x9e3779b97f4a7c15 + salt
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
