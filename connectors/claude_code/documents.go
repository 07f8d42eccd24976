package claudecode

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// document is an authored Markdown file.
type document struct {
	ID          string         `json:"id"`
	ProjectPath string         `json:"project_path,omitzero"`
	NotePath    string         `json:"note_path,omitzero"`
	Name        string         `json:"name,omitzero"`
	Description string         `json:"description,omitzero"`
	Source      string         `json:"source,omitzero"`
	Path        string         `json:"path"`
	Content     string         `json:"content"`
	Cut         bool           `json:"content_cut,omitzero"`
	FrontMatter map[string]any `json:"frontmatter,omitzero"`
	MtimeEpoch  int64          `json:"mtime_epoch"`
}

func read(f *localfile.File, content []byte, name string, keep localfile.Limits) document {
	head, body := localfile.FrontMatter(content)
	d := document{ID: f.Rel, Name: name, Path: f.Path, Description: localfile.HeadText(head, "description"), FrontMatter: head, MtimeEpoch: f.Modified.Unix()}
	if own := localfile.HeadText(head, "name"); own != "" {
		d.Name = own
	}
	text := localfile.Excerpt{Limit: keep.Document}
	text.Text(body)
	d.Content, d.Cut = text.Marked(), text.Cut() || f.Cut
	return d
}

func skill(keep localfile.Limits) func(*localfile.File, []byte) error {
	return func(f *localfile.File, content []byte) error {
		d := read(f, content, path.Base(path.Dir(f.Rel)), keep)
		d.Source = "user"
		f.Emit("skills", connectorkit.Upsert(&d))
		return nil
	}
}

func slashCommand(keep localfile.Limits) func(*localfile.File, []byte) error {
	return func(f *localfile.File, content []byte) error {
		name := strings.TrimSuffix(strings.TrimPrefix(f.Rel, "commands/"), ".md")
		d := read(f, content, strings.ReplaceAll(name, "/", ":"), keep)
		f.Emit("slash_commands", connectorkit.Upsert(&d))
		return nil
	}
}

func memoryNote(keep localfile.Limits) func(*localfile.File, []byte) error {
	return func(f *localfile.File, content []byte) error {
		project, note, _ := strings.Cut(f.Rel, "/memory/")
		d := read(f, content, strings.TrimSuffix(path.Base(note), ".md"), keep)
		d.ProjectPath, d.NotePath = project, note
		f.Emit("memory_notes", connectorkit.Upsert(&d))
		return nil
	}
}

// toolResult is a large output of a tool, of which the beginning is kept.
func toolResult(f *localfile.File, content []byte) error {
	parts := strings.Split(f.Rel, "/")
	text := localfile.Excerpt{Limit: len(content)}
	text.Text(string(content))
	a := attachment{
		ID: "tool_result_file:" + strings.Join([]string{parts[0], parts[1], path.Base(f.Rel)}, "/"), SessionID: parts[1], EventType: "tool_result_file",
		Preview: text.String(), Bytes: f.Size, Cut: f.Cut, Timestamp: f.Modified.Format(time.RFC3339),
	}
	f.Emit("attachments", connectorkit.Upsert(&a))
	return nil
}

// typed is one thing that was typed at the prompt.
type typed struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id,omitzero"`
	Project   string `json:"project,omitzero"`
	Text      string `json:"text"`
	Pasted    int    `json:"pasted_count"`
	Cut       bool   `json:"text_cut,omitzero"`
	Timestamp string `json:"timestamp,omitzero"`
}

type promptLines struct {
	f    *localfile.File
	keep localfile.Limits
}

func promptHistory(keep localfile.Limits) func(*localfile.File, jsontext.Value) localfile.LineReader {
	return func(f *localfile.File, _ jsontext.Value) localfile.LineReader { return &promptLines{f, keep} }
}

func (p *promptLines) End() {}

func (p *promptLines) State() any { return nil }

var errNoText = errors.New("the line has no text")

func (p *promptLines) Line(raw []byte) error {
	var l struct {
		Display string                    `json:"display"`
		Pasted  map[string]jsontext.Value `json:"pastedContents"`
		At      jsontext.Value            `json:"timestamp"`
		Project string                    `json:"project"`
		Session string                    `json:"sessionId"`
	}
	if err := json.Unmarshal(raw, &l, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	if l.Display == "" && len(l.Pasted) == 0 {
		return errNoText
	}
	sum := sha256.Sum256([]byte(l.Display))
	at := localfile.Time(strings.Trim(string(l.At), `"`))
	session := l.Session
	if session == "" {
		session = "-"
	}
	text := localfile.Excerpt{Limit: p.keep.Text}
	text.Text(l.Display)
	p.f.Emit("prompt_history", connectorkit.Upsert(&typed{
		ID: fmt.Sprintf("%s:%s:%s", session, strings.Trim(string(l.At), `"`), hex.EncodeToString(sum[:8])), SessionID: l.Session, Project: l.Project,
		Text: text.Marked(), Pasted: len(l.Pasted), Cut: text.Cut(), Timestamp: at,
	}))
	return nil
}

// taskRecord is one task of a session.
type taskRecord struct {
	ID          string   `json:"id"`
	SessionID   string   `json:"session_id"`
	AgentID     string   `json:"agent_id,omitzero"`
	Subject     string   `json:"subject,omitzero"`
	Description string   `json:"description,omitzero"`
	Status      string   `json:"status,omitzero"`
	Blocks      []string `json:"blocks,omitempty"`
	BlockedBy   []string `json:"blocked_by,omitempty"`
	MtimeEpoch  int64    `json:"mtime_epoch"`
}

// taskFile is a task as either build writes it.
type taskFile struct {
	Subject     string   `json:"subject"`
	Content     string   `json:"content"`
	Description string   `json:"description"`
	Status      string   `json:"status"`
	Blocks      []string `json:"blocks"`
	BlockedBy   []string `json:"blockedBy"`
}

func (t taskFile) record(f *localfile.File, id, session string) *taskRecord {
	if t.Subject == "" {
		t.Subject = t.Content
	}
	return &taskRecord{
		ID: id, SessionID: session, Subject: localfile.Short(t.Subject, 20_000), Description: localfile.Short(t.Description, 20_000), Status: t.Status,
		Blocks: t.Blocks, BlockedBy: t.BlockedBy, MtimeEpoch: f.Modified.Unix(),
	}
}

func task(f *localfile.File, content []byte) error {
	parts := strings.Split(f.Rel, "/")
	var t taskFile
	if err := json.Unmarshal(content, &t, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	f.Emit("tasks", connectorkit.Upsert(t.record(f, parts[1]+"/"+strings.TrimSuffix(parts[2], ".json"), parts[1])))
	return nil
}

// todos is the list of a session's agent. What is no longer on it is gone.
func todos(f *localfile.File, content []byte) error {
	name := strings.TrimSuffix(path.Base(f.Rel), ".json")
	session, agent, _ := strings.Cut(name, "-agent-")
	var list []taskFile
	if err := json.Unmarshal(content, &list, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	for i, t := range list {
		rec := t.record(f, name+"/"+strconv.Itoa(i), session)
		rec.AgentID = agent
		f.Emit("tasks", connectorkit.Upsert(rec))
	}
	var before int
	if f.State() != nil && json.Unmarshal(f.State(), &before) == nil {
		for i := len(list); i < before; i++ {
			f.Emit("tasks", connectorkit.Delete(name+"/"+strconv.Itoa(i)))
		}
	}
	f.SetState(len(list))
	return nil
}
