package claudecode

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// messageRecord is one message of the person, the model or a tool.
type messageRecord struct {
	ID          string `json:"id"`
	SessionID   string `json:"session_id"`
	ParentUUID  string `json:"parent_uuid,omitzero"`
	Role        string `json:"role,omitzero"`
	Type        string `json:"type,omitzero"`
	Content     string `json:"content"`
	Timestamp   string `json:"timestamp,omitzero"`
	IsSidechain bool   `json:"is_sidechain"`
	UserType    string `json:"user_type,omitzero"`
	AgentID     string `json:"agent_id,omitzero"`
	Origin      string `json:"origin,omitzero"`
	Model       string `json:"model,omitzero"`
	MessageID   string `json:"message_id,omitzero"`
	RequestID   string `json:"request_id,omitzero"`
	Bytes       int64  `json:"content_bytes"`
	Cut         bool   `json:"content_cut,omitzero"`
}

// attachment is any other line with an id, or a large output of a tool.
type attachment struct {
	ID         string `json:"id"`
	SessionID  string `json:"session_id"`
	ParentUUID string `json:"parent_uuid,omitzero"`
	EventType  string `json:"event_type,omitzero"`
	HookName   string `json:"hook_name,omitzero"`
	ToolUseID  string `json:"tool_use_id,omitzero"`
	Preview    string `json:"content_preview,omitzero"`
	Bytes      int64  `json:"content_bytes"`
	Cut        bool   `json:"content_cut,omitzero"`
	Timestamp  string `json:"timestamp,omitzero"`
}

// sessionRecord summarizes the lines of a main transcript.
type sessionRecord struct {
	ID          string `json:"id"`
	ProjectPath string `json:"project_path,omitzero"`
	CWD         string `json:"cwd,omitzero"`
	GitBranch   string `json:"git_branch,omitzero"`
	Version     string `json:"version,omitzero"`
	StartedAt   string `json:"started_at,omitzero"`
	LastEventAt string `json:"last_event_at,omitzero"`
	Messages    int64  `json:"message_count"`
	UserType    string `json:"user_type,omitzero"`
	Entrypoint  string `json:"entrypoint,omitzero"`
	Title       string `json:"title,omitzero"`
}

// sessionSummary summarizes the lines read so far, and is stored with the position in the file.
type sessionSummary struct {
	sessionRecord
	TitleRank int `json:"rank,omitzero"` // a title from the person outranks a generated one
}

// transcript reads one file.
type transcript struct {
	f       *localfile.File
	keep    localfile.TextLimits
	main    bool
	project string
	session string // that the file is named after
	agent   string

	scan     localfile.JSONScanner
	Sessions map[string]*sessionSummary `json:"s"`
}

func transcripts(keep localfile.TextLimits) func(*localfile.File, jsontext.Value) localfile.LineReader {
	return func(f *localfile.File, state jsontext.Value) localfile.LineReader {
		parts := strings.Split(f.Rel, "/")
		t := &transcript{f: f, keep: keep, project: parts[0], Sessions: map[string]*sessionSummary{}}
		name := strings.TrimSuffix(path.Base(f.Rel), ".jsonl")
		if agent, ok := strings.CutPrefix(name, "agent-"); ok {
			t.agent = agent
		}
		switch {
		case len(parts) > 2:
			t.session = parts[1]
		case t.agent == "":
			t.main, t.session = true, name
		}
		if state != nil && json.Unmarshal(state, t) != nil || t.Sessions == nil {
			t.Sessions = map[string]*sessionSummary{}
		}
		return t
	}
}

func (t *transcript) State() any { return t }

// End emits the sessions of a main transcript. A session with a file of its own is emitted from that file.
func (t *transcript) End() {
	for id, s := range t.Sessions {
		if id == t.session || !t.f.Exists(t.project+"/"+id+".jsonl") {
			t.f.Emit("sessions", connectorkit.Upsert(s.sessionRecord))
		}
	}
}

// transcriptLine holds the selected members of one line.
type transcriptLine struct {
	kind, subtype, uuid, parent, session, timestamp string
	cwd, branch, version, userType, entrypoint      string
	agent, request, toolUse, title                  string
	sidechain, meta, compact                        bool
	message                                         messageContent
	event                                           lineEvent
}

// skippedLineTypes are bookkeeping lines that hold nothing of the conversation.
var skippedLineTypes = map[string]bool{
	"mode": true, "worktree-state": true, "pr-link": true, "last-prompt": true, "progress": true,
}

// titleRanks are lines that name a session, by how much they count.
var titleRanks = map[string]int{"summary": 1, "ai-title": 2, "custom-title": 3}

// Line reads one line.
func (t *transcript) Line(raw []byte) error {
	var l transcriptLine
	if err := t.pickMembers(raw, &l); err != nil {
		return err
	}
	if l.session == "" {
		l.session = t.session
	}
	if l.agent == "" {
		l.agent = t.agent
	}
	l.timestamp = localfile.RecordTime(l.timestamp)
	switch rank := titleRanks[l.kind]; {
	case rank > 0:
		t.setSessionTitle(l, rank)
	case l.kind == "user" || l.kind == "assistant":
		t.emitMessage(l, raw)
	case skippedLineTypes[l.kind] || l.uuid == "" || l.session == "":
		t.f.Skip(localfile.LineKind(l.kind))
	default:
		t.attachment(l, raw)
	}
	return nil
}

func (t *transcript) pickMembers(raw []byte, l *transcriptLine) error {
	s := &t.scan
	s.Start(raw)
	err := s.Object(func(name []byte) (err error) {
		switch string(name) {
		case "isSidechain":
			l.sidechain, err = s.Bool()
		case "isMeta":
			l.meta, err = s.Bool()
		case "isCompactSummary":
			l.compact, err = s.Bool()
		case "message":
			err = t.readMessage(&l.message)
		case "attachment":
			err = t.readAttachment(&l.event)
		case "content":
			err = t.readLineContent(&l.event)
		default:
			into := l.textTarget(name)
			if into == nil {
				return s.Skip()
			}
			*into, err = s.Text()
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.End()
}

// textTarget is where a member that is a text goes; nil when it is not picked.
func (l *transcriptLine) textTarget(name []byte) *string {
	switch string(name) {
	case "type":
		return &l.kind
	case "subtype":
		return &l.subtype
	case "uuid":
		return &l.uuid
	case "parentUuid":
		return &l.parent
	case "sessionId":
		return &l.session
	case "timestamp":
		return &l.timestamp
	case "cwd":
		return &l.cwd
	case "gitBranch":
		return &l.branch
	case "version":
		return &l.version
	case "userType":
		return &l.userType
	case "entrypoint":
		return &l.entrypoint
	case "agentId":
		return &l.agent
	case "requestId":
		return &l.request
	case "toolUseID":
		return &l.toolUse
	case "customTitle", "aiTitle", "title", "summary":
		return &l.title
	}
	return nil
}

// summaryOf is the account of a session in this file.
func (t *transcript) summaryOf(id string) *sessionSummary {
	s := t.Sessions[id]
	if s == nil {
		s = &sessionSummary{sessionRecord: sessionRecord{ID: id, ProjectPath: t.project}}
		t.Sessions[id] = s
	}
	return s
}

// addToSummary adds a line to the account of its session.
func (t *transcript) addToSummary(l transcriptLine, messages int64) {
	if !t.main || l.session == "" {
		return
	}
	s := t.summaryOf(l.session)
	s.Messages += messages
	first := func(to *string, value string) {
		if *to == "" {
			*to = value
		}
	}
	last := func(to *string, value string) {
		if value != "" {
			*to = value
		}
	}
	first(&s.CWD, l.cwd)
	first(&s.UserType, l.userType)
	first(&s.Entrypoint, l.entrypoint)
	last(&s.GitBranch, l.branch)
	last(&s.Version, l.version)
	if at := l.timestamp; at != "" {
		if s.StartedAt == "" || localfile.TimeIsEarlier(at, s.StartedAt) {
			s.StartedAt = at
		}
		if s.LastEventAt == "" || localfile.TimeIsEarlier(s.LastEventAt, at) {
			s.LastEventAt = at
		}
	}
}

// setSessionTitle sets the title of a session. A summary line has no session and belongs to its file.
func (t *transcript) setSessionTitle(l transcriptLine, rank int) {
	if !t.main || l.title == "" || l.session == "" {
		t.f.Skip(localfile.LineKind(l.kind))
		return
	}
	if s := t.summaryOf(l.session); rank >= s.TitleRank {
		s.Title, s.TitleRank = localfile.ShortText(l.title, 500), rank
	}
}

func (t *transcript) emitMessage(l transcriptLine, raw []byte) {
	if l.session == "" {
		t.f.Skip(localfile.LineKind(l.kind))
		return
	}
	t.addToSummary(l, 1)
	if l.uuid == "" {
		sum := sha256.Sum256(raw)
		l.uuid = "line:" + hex.EncodeToString(sum[:16])
	}
	text := l.message.text.Marked()
	m := messageRecord{
		ID: l.uuid, SessionID: l.session, ParentUUID: l.parent, Role: l.message.role, Type: l.kind, Content: text,
		Timestamp:   l.timestamp,
		IsSidechain: l.sidechain, UserType: l.userType, AgentID: l.agent, Origin: l.messageOrigin(text),
		Model:     l.message.model,
		MessageID: l.message.id, RequestID: l.request,
		Bytes: l.message.text.Total(), Cut: l.message.text.Cut() || l.message.cut,
	}
	t.f.Emit("messages", connectorkit.Upsert(&m))
}

// messageOrigin returns the author of a line. Most lines with the role user were not typed by a person.
func (l *transcriptLine) messageOrigin(text string) string {
	switch {
	case l.kind == "assistant":
		return "assistant"
	case l.message.results > 0:
		return "tool"
	case l.compact:
		return "compact_summary"
	case l.meta:
		return "meta"
	case strings.HasPrefix(text, "<command-") || strings.HasPrefix(text, "<local-command-"):
		return "command"
	case l.sidechain || l.agent != "":
		return "agent"
	}
	return "person"
}

func (t *transcript) attachment(l transcriptLine, raw []byte) {
	t.addToSummary(l, 0)
	a := attachment{
		ID: l.uuid, SessionID: l.session, ParentUUID: l.parent, EventType: l.kind, HookName: l.event.hook,
		ToolUseID: l.toolUse, Timestamp: l.timestamp,
		Preview: l.event.text.Marked(), Bytes: l.event.text.Total(), Cut: l.event.text.Cut(),
	}
	if l.event.toolUse != "" {
		a.ToolUseID = l.event.toolUse
	}
	for _, more := range []string{l.subtype, l.event.kind} {
		if more != "" {
			a.EventType += ":" + more
		}
	}
	if !l.event.present {
		whole := &localfile.Excerpt{Limit: t.keep.Output, Sum: true}
		whole.Text(string(raw))
		a.Preview, a.Bytes, a.Cut = whole.Marked(), whole.Total(), whole.Cut()
	}
	t.f.Emit("attachments", connectorkit.Upsert(&a))
}
