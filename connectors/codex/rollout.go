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

// message is something that somebody said in a thread.
type message struct {
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

// session is a thread.
type session struct {
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

// rollout reads one file. What has a json name is kept with the place in it.
type rollout struct {
	f     *localfile.File
	keep  localfile.Limits
	index *threads
	scan  localfile.Scan

	Session  session         `json:"s"`
	Own      bool            `json:"own,omitzero"` // the thread's own description was read
	Messages int64           `json:"m,omitzero"`
	Calls    int64           `json:"f,omitzero"`
	At       string          `json:"at,omitzero"`    // time of the last message without an id
	Equal    map[string]int  `json:"eq,omitempty"`   // such messages at that time
	Pending  map[string]span `json:"open,omitempty"` // calls without an output, by id
	calls    map[string]*call
}

func (x *threads) rollouts(keep localfile.Limits) func(*localfile.File, jsontext.Value) localfile.LineReader {
	return func(f *localfile.File, state jsontext.Value) localfile.LineReader {
		r := &rollout{f: f, keep: keep, index: x}
		if state != nil && json.Unmarshal(state, r) != nil {
			*r = rollout{f: f, keep: keep, index: x}
		}
		if r.Pending == nil {
			r.Pending = map[string]span{}
		}
		r.calls = map[string]*call{}
		if thread := threadOf(f.ID); thread != "" {
			r.Session.ID = thread
		}
		return r
	}
}

// End tells what the thread is now.
func (r *rollout) End() {
	if r.Session.ID == "" {
		return
	}
	s := r.Session
	messages, calls := r.Messages, r.Calls
	s.Messages, s.Calls, s.RolloutPath = &messages, &calls, r.f.Rel
	archived := strings.HasPrefix(r.f.Rel, "archived_sessions/")
	s.Archived = &archived
	r.index.complete(&s)
	upsert(r.f, "sessions", &s)
}

// item is what is picked from one line.
type item struct {
	kind, timestamp    string // of the line
	payload            bool   // it wraps an item; old files have the item itself
	id, role, itemType string
	at                 string // the item's own time
	text               localfile.Excerpt
	call               call
	output             localfile.Excerpt
	meta               session
	model, approval    string
	sandbox            string
	author, recipient  string
}

// Line reads one line.
func (r *rollout) Line(raw []byte) error {
	it := item{text: localfile.Excerpt{Limit: r.keep.Text}, output: localfile.Excerpt{Limit: r.keep.Output, Sum: true}}
	it.call.arguments = localfile.Excerpt{Limit: r.keep.Text}
	s := &r.scan
	s.Start(raw)
	err := s.Object(func(name []byte) (err error) {
		switch string(name) {
		case "timestamp":
			it.timestamp, err = r.time()
		case "type":
			it.kind, err = s.Text()
		case "payload":
			if it.payload = s.Kind() == '{'; !it.payload {
				return s.Skip()
			}
			err = s.Object(func(name []byte) error { return r.member(&it, name) })
		default:
			err = r.member(&it, name)
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
	r.take(&it)
	return nil
}

// time reads a time, which old builds wrote as a number.
func (r *rollout) time() (string, error) {
	raw, err := r.scan.Raw()
	if err != nil {
		return "", err
	}
	return localfile.Time(strings.Trim(string(raw), `"`)), nil
}

// member reads one member of an item.
func (r *rollout) member(it *item, name []byte) (err error) {
	s := &r.scan
	switch string(name) {
	case "timestamp":
		it.at, err = r.time()
	case "content", "summary":
		err = r.texts(&it.text)
	case "arguments", "input", "action":
		raw, err := s.Raw()
		if err == nil {
			it.call.arguments.Quoted(raw)
		}
		return err
	case "output":
		err = r.texts(&it.output)
	case "git":
		if s.Kind() != '{' {
			return s.Skip()
		}
		err = s.Object(func(name []byte) error { return r.text(it, name) })
	default:
		err = r.text(it, name)
	}
	return err
}

func (r *rollout) text(it *item, name []byte) error {
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

// texts reads a text, an object with one, or blocks of them.
func (r *rollout) texts(e *localfile.Excerpt) error {
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
		return s.Array(func() error { return r.texts(e) })
	case '{':
		return s.Object(func(name []byte) error {
			switch string(name) {
			case "text", "content", "output", "stdout", "stderr":
				return r.texts(e)
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

// take does what a line asks for.
func (r *rollout) take(it *item) {
	if it.timestamp != "" {
		if s := &r.Session; s.LastEventAt == "" || localfile.Earlier(s.LastEventAt, it.timestamp) {
			s.LastEventAt = it.timestamp
		}
		if s := &r.Session; s.StartedAt == "" || localfile.Earlier(it.timestamp, s.StartedAt) {
			s.StartedAt = it.timestamp
		}
	}
	switch {
	case it.kind == "session_meta":
		r.describe(it)
	case it.kind == "turn_context":
		r.context(it)
	case it.kind == agentLine && r.Session.ID != "":
		it.itemType = agentLine
		r.said(it)
	case it.kind != "response_item":
		r.f.Skip(localfile.Kind(it.kind)) // echoes for the screen, and repetitions
	case r.Session.ID == "":
		r.f.Skip("no_thread")
	case it.itemType == "message" || it.itemType == "reasoning" || it.itemType == agentItem:
		r.said(it)
	case strings.HasSuffix(it.itemType, "_call"):
		r.called(it)
	case strings.HasSuffix(it.itemType, "_output"):
		r.answered(it)
	default:
		r.f.Skip(localfile.Kind(it.itemType))
	}
}

// describe takes the description of a thread: the first says how it began, the last where
// it is. A fork begins with its parent's.
func (r *rollout) describe(it *item) {
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

func (r *rollout) context(it *item) {
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

// injected begin texts of the role user that nobody typed.
var injected = []string{"<user_instructions>", "<environment_context>", "# AGENTS.md instructions"}

// Both are messages between agents.
const (
	agentItem = "agent_message"
	agentLine = "inter_agent_communication"
)

func (r *rollout) said(it *item) {
	r.Messages++
	text := it.text.Marked()
	agents := it.itemType == agentItem || it.itemType == agentLine
	if agents && text == "" {
		text = "[encrypted]"
	}
	m := message{
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
		for _, begin := range injected {
			if strings.HasPrefix(text, begin) {
				m.Origin = "injected"
			}
		}
	}
	m.ID = r.Session.ID + ":" + it.id
	if it.id == "" {
		m.ID = r.key(it.timestamp, m.Role, it.itemType, text)
	}
	upsert(r.f, "messages", &m)
}

// key identifies what has no id of its own, in every form that the file may take: by thread,
// time, role and text, with a number for equal ones.
func (r *rollout) key(at string, parts ...string) string {
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
