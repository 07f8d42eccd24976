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

// markdownFile is an authored Markdown file.
type markdownFile struct {
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

func readDocument(f *localfile.File, content []byte, name string, keep localfile.TextLimits) markdownFile {
	head, body := localfile.FrontMatter(content)
	d := markdownFile{ID: f.Rel, Name: name, Path: f.Path, Description: localfile.HeadText(head, "description"),
		FrontMatter: head, MtimeEpoch: f.Modified.Unix()}
	if own := localfile.HeadText(head, "name"); own != "" {
		d.Name = own
	}
	text := localfile.Excerpt{Limit: keep.Document}
	text.Text(body)
	d.Content, d.Cut = text.Marked(), text.Cut() || f.Cut
	return d
}

func readSkill(keep localfile.TextLimits) func(*localfile.File, []byte) error {
	return func(f *localfile.File, content []byte) error {
		d := readDocument(f, content, path.Base(path.Dir(f.Rel)), keep)
		d.Source = "user"
		f.Emit("skills", connectorkit.Upsert(&d))
		return nil
	}
}

func slashCommand(keep localfile.TextLimits) func(*localfile.File, []byte) error {
	return func(f *localfile.File, content []byte) error {
		name := strings.TrimSuffix(strings.TrimPrefix(f.Rel, "commands/"), ".md")
		d := readDocument(f, content, strings.ReplaceAll(name, "/", ":"), keep)
		f.Emit("slash_commands", connectorkit.Upsert(&d))
		return nil
	}
}

func memoryNote(keep localfile.TextLimits) func(*localfile.File, []byte) error {
	return func(f *localfile.File, content []byte) error {
		project, note, _ := strings.Cut(f.Rel, "/memory/")
		d := readDocument(f, content, strings.TrimSuffix(path.Base(note), ".md"), keep)
		d.ProjectPath, d.NotePath = project, note
		f.Emit("memory_notes", connectorkit.Upsert(&d))
		return nil
	}
}

// toolResult stores the beginning of a large tool output.
func toolResult(f *localfile.File, content []byte) error {
	parts := strings.Split(f.Rel, "/")
	text := localfile.Excerpt{Limit: len(content)}
	text.Text(string(content))
	a := attachment{
		ID: "tool_result_file:" + strings.Join([]string{parts[0], parts[1], path.Base(f.Rel)}, "/"), SessionID: parts[1],
		EventType: "tool_result_file",
		Preview:   text.String(), Bytes: f.Size, Cut: f.Cut, Timestamp: f.Modified.Format(time.RFC3339),
	}
	f.Emit("attachments", connectorkit.Upsert(&a))
	return nil
}

// typedPrompt is one prompt that the person typed.
type typedPrompt struct {
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
	keep localfile.TextLimits
}

func promptHistory(keep localfile.TextLimits) func(*localfile.File, jsontext.Value) localfile.LineReader {
	return func(f *localfile.File, _ jsontext.Value) localfile.LineReader { return &promptLines{f, keep} }
}

func (p *promptLines) End() {}

func (p *promptLines) State() any { return nil }

var errMissingText = errors.New("the line has no text")

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
		return errMissingText
	}
	sum := sha256.Sum256([]byte(l.Display))
	at := localfile.RecordTime(strings.Trim(string(l.At), `"`))
	session := l.Session
	if session == "" {
		session = "-"
	}
	text := localfile.Excerpt{Limit: p.keep.Text}
	text.Text(l.Display)
	p.f.Emit("prompt_history", connectorkit.Upsert(&typedPrompt{
		ID:        fmt.Sprintf("%s:%s:%s", session, strings.Trim(string(l.At), `"`), hex.EncodeToString(sum[:8])),
		SessionID: l.Session, Project: l.Project,
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

// taskFileBody is a task as either build writes it.
type taskFileBody struct {
	Subject     string   `json:"subject"`
	Content     string   `json:"content"`
	Description string   `json:"description"`
	Status      string   `json:"status"`
	Blocks      []string `json:"blocks"`
	BlockedBy   []string `json:"blockedBy"`
}

func (t taskFileBody) toRecord(f *localfile.File, id, session string) *taskRecord {
	if t.Subject == "" {
		t.Subject = t.Content
	}
	return &taskRecord{
		ID: id, SessionID: session, Subject: localfile.ShortText(t.Subject, 20_000),
		Description: localfile.ShortText(t.Description, 20_000), Status: t.Status,
		Blocks: t.Blocks, BlockedBy: t.BlockedBy, MtimeEpoch: f.Modified.Unix(),
	}
}

func readTaskFile(f *localfile.File, content []byte) error {
	parts := strings.Split(f.Rel, "/")
	var t taskFileBody
	if err := json.Unmarshal(content, &t, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	f.Emit("tasks", connectorkit.Upsert(t.toRecord(f, parts[1]+"/"+strings.TrimSuffix(parts[2], ".json"), parts[1])))
	return nil
}

// readTodoList reads the list of a session's agent. Entries that left the list are deleted.
func readTodoList(f *localfile.File, content []byte) error {
	name := strings.TrimSuffix(path.Base(f.Rel), ".json")
	session, agent, _ := strings.Cut(name, "-agent-")
	var list []taskFileBody
	if err := json.Unmarshal(content, &list, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	for i, t := range list {
		rec := t.toRecord(f, name+"/"+strconv.Itoa(i), session)
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
