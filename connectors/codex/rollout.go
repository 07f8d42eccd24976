package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// threadMessage is one message of a thread.
type threadMessage struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	Role      string `json:"role,omitzero"`
	Type      string `json:"type"`
	Content   string `json:"content"`
	Timestamp string `json:"timestamp,omitzero"`
	Origin    string `json:"origin,omitzero"`
	Bytes     int64  `json:"content_bytes"`
	Cut       bool   `json:"content_cut,omitzero"`
	Author    string `json:"author,omitzero"`    // the agent that wrote it, and the one
	Recipient string `json:"recipient,omitzero"` // that it is for, where agents talk
}

// threadRecord is a thread.
type threadRecord struct {
	ID            string `json:"id"`
	CWD           string `json:"cwd,omitzero"`
	Originator    string `json:"originator,omitzero"`
	CLIVersion    string `json:"cli_version,omitzero"`
	ModelProvider string `json:"model_provider,omitzero"`
	Model         string `json:"model,omitzero"`
	GitCommit     string `json:"git_commit,omitzero"`
	GitBranch     string `json:"git_branch,omitzero"`
	RepositoryURL string `json:"repository_url,omitzero"`
	ForkedFrom    string `json:"forked_from,omitzero"`
	StartedAt     string `json:"started_at,omitzero"`
	LastEventAt   string `json:"last_event_at,omitzero"`
	Messages      *int64 `json:"message_count,omitzero"`
	Calls         *int64 `json:"function_call_count,omitzero"`
	Title         string `json:"title,omitzero"`
	Archived      *bool  `json:"archived,omitzero"`
	Tokens        *int64 `json:"tokens_used,omitzero"`
	FirstMessage  string `json:"first_user_message,omitzero"`
	SandboxPolicy string `json:"sandbox_policy,omitzero"`
	ApprovalMode  string `json:"approval_mode,omitzero"`
	RolloutPath   string `json:"rollout_path,omitzero"`
}

// rolloutReader reads one file. Fields with a JSON name are stored with the position in it.
type rolloutReader struct {
	f     *localfile.File
	keep  localfile.TextLimits
	index *threadIndex
	scan  localfile.JSONScanner

	Session  threadRecord        `json:"s"`
	Own      bool                `json:"own,omitzero"` // the thread's own description was read
	Messages int64               `json:"m,omitzero"`
	Calls    int64               `json:"f,omitzero"`
	At       string              `json:"at,omitzero"`    // time of the last message without an id
	Equal    map[string]int      `json:"eq,omitempty"`   // such messages at that time
	Pending  map[string]lineSpan `json:"open,omitempty"` // calls without an output, by id
	calls    map[string]*toolCall
}

func (x *threadIndex) rolloutOpener(
	keep localfile.TextLimits,
) func(*localfile.File, jsontext.Value) localfile.LineReader {
	return func(f *localfile.File, state jsontext.Value) localfile.LineReader {
		r := &rolloutReader{f: f, keep: keep, index: x}
		if state != nil && json.Unmarshal(state, r) != nil {
			*r = rolloutReader{f: f, keep: keep, index: x}
		}
		if r.Pending == nil {
			r.Pending = map[string]lineSpan{}
		}
		r.calls = map[string]*toolCall{}
		if thread := threadIDOf(f.ID); thread != "" {
			r.Session.ID = thread
		}
		return r
	}
}

// End emits the current state of the thread.
func (r *rolloutReader) End() {
	if r.Session.ID == "" {
		return
	}
	s := r.Session
	messages, calls := r.Messages, r.Calls
	s.Messages, s.Calls, s.RolloutPath = &messages, &calls, r.f.Rel
	archived := strings.HasPrefix(r.f.Rel, "archived_sessions/")
	s.Archived = &archived
	r.index.completeSession(&s)
	emitUpsert(r.f, "sessions", &s)
}

// lineItem holds the selected members of one line.
type lineItem struct {
	kind, timestamp    string // of the line
	payload            bool   // it wraps an item; old files have the item itself
	id, role, itemType string
	at                 string // the item's own time
	text               localfile.Excerpt
	call               toolCall
	output             localfile.Excerpt
	meta               threadRecord
	model, approval    string
	sandbox            string
	author, recipient  string
}

// Line reads one line.
func (r *rolloutReader) Line(raw []byte) error {
	it := lineItem{text: localfile.Excerpt{Limit: r.keep.Text}, output: localfile.Excerpt{Limit: r.keep.Output, Sum: true}}
	it.call.arguments = localfile.Excerpt{Limit: r.keep.Text}
	s := &r.scan
	s.Start(raw)
	err := s.Object(func(name []byte) (err error) {
		switch string(name) {
		case "timestamp":
			it.timestamp, err = r.readTimestamp()
		case "type":
			it.kind, err = s.Text()
		case "payload":
			if it.payload = s.Kind() == '{'; !it.payload {
				return s.Skip()
			}
			err = s.Object(func(name []byte) error { return r.readMember(&it, name) })
		default:
			err = r.readMember(&it, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.End(); err != nil {
		return err
	}
	if it.at != "" && it.timestamp == "" {
		it.timestamp = it.at
	}
	if !it.payload { // an old file
		it.itemType = it.kind
		if it.kind = "response_item"; it.itemType == "" && it.meta.ID != "" {
			it.kind = "session_meta"
		}
	}
	r.handleItem(&it)
	return nil
}

// readTimestamp reads a time, which old builds wrote as a number.
func (r *rolloutReader) readTimestamp() (string, error) {
	raw, err := r.scan.Raw()
	if err != nil {
		return "", err
	}
	return localfile.RecordTime(strings.Trim(string(raw), `"`)), nil
}

// readMember reads one member of an item.
func (r *rolloutReader) readMember(it *lineItem, name []byte) (err error) {
	s := &r.scan
	switch string(name) {
	case "timestamp":
		it.at, err = r.readTimestamp()
	case "content", "summary":
		err = r.readTextBlocks(&it.text)
	case "arguments", "input", "action":
		raw, err := s.Raw()
		if err == nil {
			it.call.arguments.Quoted(raw)
		}
		return err
	case "output":
		err = r.readTextBlocks(&it.output)
	case "git":
		if s.Kind() != '{' {
			return s.Skip()
		}
		err = s.Object(func(name []byte) error { return r.readTextMember(it, name) })
	default:
		err = r.readTextMember(it, name)
	}
	return err
}

func (r *rolloutReader) readTextMember(it *lineItem, name []byte) error {
	var into *string
	switch string(name) {
	case "id":
		into = &it.id
	case "type":
		into = &it.itemType
	case "role":
		into = &it.role
	case "call_id":
		into = &it.call.CallID
	case "name":
		into = &it.call.Name
	case "cwd":
		into = &it.meta.CWD
	case "originator":
		into = &it.meta.Originator
	case "cli_version":
		into = &it.meta.CLIVersion
	case "model_provider":
		into = &it.meta.ModelProvider
	case "forked_from_id":
		into = &it.meta.ForkedFrom
	case "commit_hash":
		into = &it.meta.GitCommit
	case "branch":
		into = &it.meta.GitBranch
	case "repository_url":
		into = &it.meta.RepositoryURL
	case "author":
		into = &it.author
	case "recipient":
		into = &it.recipient
	case "model":
		into = &it.model
	case "approval_policy":
		into = &it.approval
	case "sandbox_policy":
		raw, err := r.scan.Raw()
		if err == nil && len(raw) <= 2000 {
			it.sandbox = strings.Trim(string(raw), `"`)
		}
		return err
	default:
		return r.scan.Skip()
	}
	text, err := r.scan.Text()
	if text != "" {
		*into = text
	}
	if string(name) == "id" {
		it.meta.ID = text
	}
	return err
}

// readTextBlocks reads a text, an object with one, or blocks of them.
func (r *rolloutReader) readTextBlocks(e *localfile.Excerpt) error {
	s := &r.scan
	switch s.Kind() {
	case '"':
		raw, err := s.Raw()
		if err == nil {
			if e.Total() > 0 {
				e.Text("\n")
			}
			e.Quoted(raw)
		}
		return err
	case '[':
		return s.Array(func() error { return r.readTextBlocks(e) })
	case '{':
		return s.Object(func(name []byte) error {
			switch string(name) {
			case "text", "content", "output", "stdout", "stderr":
				return r.readTextBlocks(e)
			case "image_url":
				if e.Total() > 0 {
					e.Text("\n")
				}
				e.Text("[image]")
			}
			return s.Skip()
		})
	}
	return s.Skip()
}

// handleItem does what a line asks for.
func (r *rolloutReader) handleItem(it *lineItem) {
	if it.timestamp != "" {
		if s := &r.Session; s.LastEventAt == "" || localfile.TimeIsEarlier(s.LastEventAt, it.timestamp) {
			s.LastEventAt = it.timestamp
		}
		if s := &r.Session; s.StartedAt == "" || localfile.TimeIsEarlier(it.timestamp, s.StartedAt) {
			s.StartedAt = it.timestamp
		}
	}
	switch {
	case it.kind == "session_meta":
		r.describeThread(it)
	case it.kind == "turn_context":
		r.readTurnContext(it)
	case it.kind == agentCommunicationType && r.Session.ID != "":
		it.itemType = agentCommunicationType
		r.emitMessage(it)
	case it.kind != "response_item":
		r.f.Skip(localfile.LineKind(it.kind)) // echoes for the screen, and repetitions
	case r.Session.ID == "":
		r.f.Skip("no_thread")
	case it.itemType == "message" || it.itemType == "reasoning" || it.itemType == agentMessageType:
		r.emitMessage(it)
	case strings.HasSuffix(it.itemType, "_call"):
		r.startToolCall(it)
	case strings.HasSuffix(it.itemType, "_output"):
		r.finishToolCall(it)
	default:
		r.f.Skip(localfile.LineKind(it.itemType))
	}
}

// describeThread applies a description of the thread: the first one sets its origin, the last one its location. A
// fork starts with the description of its parent.
func (r *rolloutReader) describeThread(it *lineItem) {
	own := r.Session.ID == "" || it.meta.ID == r.Session.ID
	if r.Own && !own {
		return
	}
	s := &r.Session
	fresh := own && !r.Own
	r.Own = r.Own || own
	if s.ID == "" {
		s.ID = it.meta.ID
	}
	set := func(to *string, value string, last bool) {
		if value != "" && (*to == "" || last) {
			*to = value
		}
	}
	set(&s.CWD, it.meta.CWD, fresh)
	set(&s.Originator, it.meta.Originator, fresh)
	set(&s.CLIVersion, it.meta.CLIVersion, true)
	set(&s.ModelProvider, it.meta.ModelProvider, true)
	set(&s.GitCommit, it.meta.GitCommit, true)
	set(&s.GitBranch, it.meta.GitBranch, true)
	set(&s.RepositoryURL, it.meta.RepositoryURL, true)
	set(&s.ForkedFrom, it.meta.ForkedFrom, true)
	if !own {
		set(&s.ForkedFrom, it.meta.ID, false)
	}
}

func (r *rolloutReader) readTurnContext(it *lineItem) {
	s := &r.Session
	if it.model != "" {
		s.Model = it.model
	}
	if it.approval != "" {
		s.ApprovalMode = it.approval
	}
	if it.sandbox != "" {
		s.SandboxPolicy = it.sandbox
	}
}

// injectedPrefixes start texts with the role user that a program inserted.
var injectedPrefixes = []string{"<user_instructions>", "<environment_context>", "# AGENTS.md instructions"}

// Both are messages between agents.
const (
	agentMessageType       = "agent_message"
	agentCommunicationType = "inter_agent_communication"
)

func (r *rolloutReader) emitMessage(it *lineItem) {
	r.Messages++
	text := it.text.Marked()
	agents := it.itemType == agentMessageType || it.itemType == agentCommunicationType
	if agents && text == "" {
		text = "[encrypted]"
	}
	m := threadMessage{
		SessionID: r.Session.ID, Role: it.role, Type: it.itemType, Content: text, Timestamp: it.timestamp,
		Bytes: it.text.Total(), Cut: it.text.Cut(), Origin: it.role,
	}
	if m.Role == "" {
		m.Role, m.Origin = "assistant", "assistant"
	}
	if agents {
		m.Author, m.Recipient, m.Origin = it.author, it.recipient, "agent"
	}
	if m.Role == "user" {
		m.Origin = "person"
		for _, begin := range injectedPrefixes {
			if strings.HasPrefix(text, begin) {
				m.Origin = "injected"
			}
		}
	}
	m.ID = r.Session.ID + ":" + it.id
	if it.id == "" {
		m.ID = r.derivedKey(it.timestamp, m.Role, it.itemType, text)
	}
	emitUpsert(r.f, "messages", &m)
}

// derivedKey returns a key for an item without an id. It is the same in every form of the file: thread, time, role
// and text, with a number for equal ones.
func (r *rolloutReader) derivedKey(at string, parts ...string) string {
	if at != r.At || r.Equal == nil {
		r.At, r.Equal = at, map[string]int{}
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{r.Session.ID, at}, parts...), "\x00")))
	id := hex.EncodeToString(sum[:12])
	n := r.Equal[id]
	r.Equal[id]++
	if n > 0 {
		id = fmt.Sprintf("%s.%d", id, n+1)
	}
	return r.Session.ID + ":" + id
}
