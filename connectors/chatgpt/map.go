package chatgpt

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// conversationRecord is a record of conversations.
type conversationRecord struct {
	ID          string  `json:"id"`
	Title       *string `json:"title"`
	CreateTime  *string `json:"create_time"`
	UpdateTime  *string `json:"update_time"`
	IsArchived  *bool   `json:"is_archived"`
	IsStarred   *bool   `json:"is_starred"`
	WorkspaceID *string `json:"workspace_id"`
	CurrentNode *string `json:"current_node"`
	Branch      *int    `json:"message_count_on_current_branch"`
	GizmoID     *string `json:"gizmo_id"`
}

// record maps a listed conversation. How many messages its branch has is known only where
// the tree is.
func (r *row) record(branch *int) conversationRecord {
	return conversationRecord{
		ID: r.key(), Title: clean(r.Title), CreateTime: r.CreateTime.text(), UpdateTime: r.UpdateTime.text(), IsArchived: r.IsArchived,
		IsStarred: r.IsStarred, WorkspaceID: clean(r.WorkspaceID), CurrentNode: clean(r.CurrentNode), Branch: branch, GizmoID: clean(r.GizmoID),
	}
}

// messageRecord is a record of messages.
type messageRecord struct {
	ID             string           `json:"id"`
	ConversationID string           `json:"conversation_id"`
	ParentID       *string          `json:"parent_id"`
	ChildrenIDs    []string         `json:"children_ids"`
	Role           *string          `json:"role"`
	Content        *string          `json:"content"`
	ContentType    *string          `json:"content_type"`
	ModelSlug      *string          `json:"model_slug"`
	CreateTime     *string          `json:"create_time"`
	FinishReason   *string          `json:"finish_reason"`
	Citations      []jsontext.Value `json:"citations"`
	ToolCalls      []toolCall       `json:"tool_calls"`
	AttachmentIDs  []string         `json:"attachment_ids"`
	OnBranch       bool             `json:"on_current_branch"`
}

// toolCall is a message that is addressed to a tool. Its arguments are the message's words.
type toolCall struct {
	Recipient string `json:"recipient"`
}

// records maps every message of every branch, parents before children. The order is the
// same for the same tree.
func (c *conversation) records() []connectorkit.Record {
	on := c.branch()
	var out []connectorkit.Record
	for _, id := range c.order() {
		if n := c.Mapping[id]; n.Message != nil {
			out = append(out, c.filed(connectorkit.Upsert(n.record(id, c.key(), on[id]))))
		}
	}
	return out
}

// filed says which file of an export a record came from; of one that the site gave it says nothing.
func (c *conversation) filed(rec connectorkit.Record) connectorkit.Record {
	if c.file == "" {
		return rec
	}
	return rec.FromFile(c.file)
}

// completed is the record of a conversation, of which a list knows some and the tree the rest.
// What only lists tell is taken from the one that named it.
func (c *conversation) completed(listed *row) connectorkit.Record {
	r := c.row
	if listed != nil {
		r = *listed
		r.CurrentNode = c.CurrentNode
	}
	return connectorkit.OfItem(connectorkit.Upsert(r.record(c.messagesOnBranch())))
}

// messagesOnBranch counts what the conversation shows.
func (c *conversation) messagesOnBranch() *int {
	count := 0
	for id := range c.branch() {
		if c.Mapping[id].Message != nil {
			count++
		}
	}
	return &count
}

// order walks the tree from its roots. What no root leads to follows by id.
func (c *conversation) order() []string {
	ids := make([]string, 0, len(c.Mapping))
	for id := range c.Mapping {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var out []string
	seen := map[string]bool{}
	var stack []string
	walk := func(from string) {
		for stack = append(stack, from); len(stack) > 0; {
			id := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			n, ok := c.Mapping[id]
			if !ok || seen[id] {
				continue
			}
			seen[id] = true
			out = append(out, id)
			for _, child := range slices.Backward(n.Children) {
				stack = append(stack, child)
			}
		}
	}
	for _, id := range ids {
		parent := c.Mapping[id].Parent
		if parent == nil {
			walk(id)
		} else if _, known := c.Mapping[*parent]; !known {
			walk(id)
		}
	}
	for _, id := range ids {
		walk(id)
	}
	return out
}

func (n node) record(id, conversation string, onBranch bool) messageRecord {
	m := n.Message
	said := m.Content.read()
	out := messageRecord{
		ID: valid(id), ConversationID: conversation, ParentID: clean(n.Parent), ChildrenIDs: []string{}, Role: some(m.Author.Role),
		Content: said.text(), ContentType: some(m.Content.Type), CreateTime: m.CreateTime.text(),
		Citations: []jsontext.Value{}, ToolCalls: []toolCall{}, AttachmentIDs: []string{}, OnBranch: onBranch,
	}
	for _, child := range n.Children {
		out.ChildrenIDs = append(out.ChildrenIDs, valid(child))
	}
	if m.Author.Role == "assistant" && m.Recipient != "" && m.Recipient != "all" {
		out.ToolCalls = append(out.ToolCalls, toolCall{valid(m.Recipient)})
	}
	files := said.files
	var meta metadata
	if len(m.Metadata) > 0 && decode(m.Metadata, &meta) == nil {
		out.ModelSlug = clean(meta.ModelSlug)
		if meta.FinishDetails != nil {
			out.FinishReason = clean(meta.FinishDetails.Type)
		}
		for _, c := range meta.Citations {
			out.Citations = append(out.Citations, canonical(c))
		}
		for _, a := range meta.Attachments {
			files = append(files, a.ID)
		}
	}
	for _, id := range files {
		if id = valid(id); id != "" && !slices.Contains(out.AttachmentIDs, id) {
			out.AttachmentIDs = append(out.AttachmentIDs, id)
		}
	}
	return out
}

// maxCitation bounds one citation, which is kept as it came.
const maxCitation = 64 << 10

// canonical is a value whose text is well-formed; null when it is too long for a record.
func canonical(v jsontext.Value) jsontext.Value {
	var tree any
	if len(v) > maxCitation || decode(v, &tree) != nil {
		return jsontext.Value("null")
	}
	out := v.Clone()
	if out.Compact(jsontext.AllowInvalidUTF8(false)) != nil {
		return jsontext.Value("null")
	}
	return out
}

// some is nil for nothing.
func some(s string) *string {
	if s == "" {
		return nil
	}
	s = valid(s)
	return &s
}

func clean(s *string) *string {
	if s == nil {
		return nil
	}
	v := valid(*s)
	return &v
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
