package chatgpt

import (
	"fmt"
	"strings"
	"time"
)

// chat is one conversation.
type chat struct {
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
	nodes     []node
	current   int
}

// node is one place in the tree. Node 0 is the root, which has no message.
type node struct {
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

func id(kind string, n int) string {
	a, b := mix(uint64(n)+1, salt(kind)), mix(uint64(n)+7, salt(kind)+1)
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(a), uint16(a>>32), uint16(a>>48)&0xfff, uint16(b)&0xfff, b>>16)
}

func (c *chat) id() string { return id("chat", c.n) }

func (c *chat) nodeID(i int) string { return id("node", c.n*10_000+i) }

func projectID(n int) string { return "g-p-" + strings.ReplaceAll(id("project", n), "-", "") }

// gizmoID is the chat's project, else the GPT that it was made with.
func (c *chat) gizmoID() string {
	if c.project >= 0 {
		return projectID(c.project)
	}
	return c.gizmo
}

// live reports whether the chat exists in the workspace.
func (c *chat) live(workspace string) bool { return !c.deleted && c.workspace == workspace }

// thing is a memory, an own GPT or a share.
type thing struct {
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

func salt(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix is splitmix64 over a seed and a salt.
func mix(n, salt uint64) uint64 {
	z := n*0x9e3779b97f4a7c15 + salt
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
