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

// toRecord maps a listed conversation. How many messages its branch has is known only where
// the tree is.
func (r *conversationRow) toRecord(branch *int) conversationRecord {
	return conversationRecord{
		ID: r.conversationID(), Title: validOrNil(r.Title), CreateTime: r.CreateTime.recordTime(),
		UpdateTime: r.UpdateTime.recordTime(),
		IsArchived: r.IsArchived,
		IsStarred:  r.IsStarred, WorkspaceID: validOrNil(r.WorkspaceID), CurrentNode: validOrNil(r.CurrentNode),
		Branch:  branch,
		GizmoID: validOrNil(r.GizmoID),
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
	ToolCalls      []toolCallRecord `json:"tool_calls"`
	AttachmentIDs  []string         `json:"attachment_ids"`
	OnBranch       bool             `json:"on_current_branch"`
}

// toolCallRecord is a message that is addressed to a tool. Its arguments are the message's text.
type toolCallRecord struct {
	Recipient string `json:"recipient"`
}

// messageRecords maps every message of every branch, parents before children. The order is the
// same for the same tree.
func (c *conversation) messageRecords() []connectorkit.Record {
	on := c.currentBranch()
	var out []connectorkit.Record
	for _, id := range c.treeOrder() {
		if n := c.Mapping[id]; n.Message != nil {
			out = append(out, c.withExportFile(connectorkit.Upsert(n.toRecord(id, c.conversationID(), on[id]))))
		}
	}
	return out
}

// withExportFile adds the name of the export file to a record. Records from the site stay unchanged.
func (c *conversation) withExportFile(rec connectorkit.Record) connectorkit.Record {
	if c.file == "" {
		return rec
	}
	return rec.FromFile(c.file)
}

// completedRecord returns the record of a conversation, part of which comes from a list and the rest from the tree.
func (c *conversation) completedRecord(listed *conversationRow) connectorkit.Record {
	r := c.conversationRow
	if listed != nil {
		r = *listed
		r.CurrentNode = c.CurrentNode
	}
	return connectorkit.ListedRecord(connectorkit.Upsert(r.toRecord(c.messagesOnBranch())))
}

// messagesOnBranch counts what the conversation shows.
func (c *conversation) messagesOnBranch() *int {
	count := 0
	for id := range c.currentBranch() {
		if c.Mapping[id].Message != nil {
			count++
		}
	}
	return &count
}

// treeOrder walks the tree from its roots. What no root leads to follows by id.
func (c *conversation) treeOrder() []string {
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

func (n treeNode) toRecord(id, conversation string, onBranch bool) messageRecord {
	m := n.Message
	content := m.Content.readContentText()
	out := messageRecord{
		ID: validUTF8(id), ConversationID: conversation, ParentID: validOrNil(n.Parent), ChildrenIDs: []string{},
		Role:    nonEmptyOrNil(m.Author.Role),
		Content: content.joinedText(), ContentType: nonEmptyOrNil(m.Content.Type), CreateTime: m.CreateTime.recordTime(),
		Citations: []jsontext.Value{}, ToolCalls: []toolCallRecord{}, AttachmentIDs: []string{}, OnBranch: onBranch,
	}
	for _, child := range n.Children {
		out.ChildrenIDs = append(out.ChildrenIDs, validUTF8(child))
	}
	if m.Author.Role == "assistant" && m.Recipient != "" && m.Recipient != "all" {
		out.ToolCalls = append(out.ToolCalls, toolCallRecord{validUTF8(m.Recipient)})
	}
	files := content.files
	var meta messageMetadata
	if len(m.Metadata) > 0 && decodeLenient(m.Metadata, &meta) == nil {
		out.ModelSlug = validOrNil(meta.ModelSlug)
		if meta.FinishDetails != nil {
			out.FinishReason = validOrNil(meta.FinishDetails.Type)
		}
		for _, c := range meta.Citations {
			out.Citations = append(out.Citations, wellFormedValue(c))
		}
		for _, a := range meta.Attachments {
			files = append(files, a.ID)
		}
	}
	for _, id := range files {
		if id = validUTF8(id); id != "" && !slices.Contains(out.AttachmentIDs, id) {
			out.AttachmentIDs = append(out.AttachmentIDs, id)
		}
	}
	return out
}

// maxCitation bounds one citation, which is stored unchanged.
const maxCitation = 64 << 10

// wellFormedValue returns a value with valid text, or null when it is too long for a record.
func wellFormedValue(v jsontext.Value) jsontext.Value {
	var tree any
	if len(v) > maxCitation || decodeLenient(v, &tree) != nil {
		return jsontext.Value("null")
	}
	out := v.Clone()
	if out.Compact(jsontext.AllowInvalidUTF8(false)) != nil {
		return jsontext.Value("null")
	}
	return out
}

// nonEmptyOrNil is nil for nothing.
func nonEmptyOrNil(s string) *string {
	if s == "" {
		return nil
	}
	s = validUTF8(s)
	return &s
}

func validOrNil(s *string) *string {
	if s == nil {
		return nil
	}
	v := validUTF8(*s)
	return &v
}

func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
