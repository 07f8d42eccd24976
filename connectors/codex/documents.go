package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// markdownFile is an authored Markdown file: a prompt or a skill.
type markdownFile struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Content     string `json:"content"`
	Cut         bool   `json:"content_cut,omitzero"`
	Path        string `json:"path"`
	MtimeEpoch  int64  `json:"mtime_epoch"`
}

func readDocuments(stream string, keep localfile.TextLimits) func(*localfile.File, []byte) error {
	return func(f *localfile.File, content []byte) error {
		name := path.Base(f.Rel)
		if stream == "skills" {
			name = path.Base(path.Dir(f.Rel))
		}
		head, body := localfile.FrontMatter(content)
		text := localfile.Excerpt{Limit: keep.Document}
		text.Text(body)
		d := markdownFile{
			ID: stream + ":" + name, Name: strings.TrimSuffix(name, ".md"), Description: localfile.HeadText(head, "description"),
			Content: text.Marked(), Cut: text.Cut() || f.Cut, Path: f.Path, MtimeEpoch: f.Modified.Unix(),
		}
		if own := localfile.HeadText(head, "name"); own != "" {
			d.Name = own
		}
		emitUpsert(f, stream, &d)
		return nil
	}
}

// commandRule is one decision about commands.
type commandRule struct {
	ID         string `json:"id"`
	Ruleset    string `json:"ruleset"`
	Text       string `json:"rule_text"`
	Index      int    `json:"rule_index"`
	Path       string `json:"path"`
	MtimeEpoch int64  `json:"mtime_epoch"`
}

// readCommandRules reads a set of rules, one per line. Rules that left the file are deleted.
func readCommandRules(f *localfile.File, content []byte) error {
	name := path.Base(f.Rel)
	n := 0
	for line := range strings.Lines(strings.ToValidUTF8(string(content), "\uFFFD")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") {
			continue
		}
		emitUpsert(f, "rules", &commandRule{
			ID: fmt.Sprintf("rules:%s:%d", name, n), Ruleset: strings.TrimSuffix(name, ".rules"),
			Text: localfile.ShortText(line, 20_000), Index: n,
			Path: f.Path, MtimeEpoch: f.Modified.Unix(),
		})
		n++
	}
	var before int
	if f.State() != nil && json.Unmarshal(f.State(), &before) == nil {
		for i := n; i < before; i++ {
			f.Emit("rules", connectorkit.Delete(fmt.Sprintf("rules:%s:%d", name, i)))
		}
	}
	f.SetState(n)
	return nil
}

// typedPrompt is one prompt that the person typed.
type typedPrompt struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id,omitzero"`
	Text      string `json:"text"`
	Cut       bool   `json:"text_cut,omitzero"`
	Timestamp string `json:"timestamp,omitzero"`
}

type promptLines struct {
	f    *localfile.File
	keep localfile.TextLimits
}

// promptHistory reads history.jsonl, which Codex trims from its front. The key of a line is derived from its content.
func promptHistory(keep localfile.TextLimits) func(*localfile.File, jsontext.Value) localfile.LineReader {
	return func(f *localfile.File, _ jsontext.Value) localfile.LineReader { return &promptLines{f, keep} }
}

func (p *promptLines) End() {}

func (p *promptLines) State() any { return nil }

var errMissingText = errors.New("the line has no text")

func (p *promptLines) Line(raw []byte) error {
	var l struct {
		Session string  `json:"session_id"`
		At      float64 `json:"ts"`
		Text    string  `json:"text"`
	}
	if err := json.Unmarshal(raw, &l, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	if l.Text == "" {
		return errMissingText
	}
	sum := sha256.Sum256([]byte(l.Text))
	at := strconv.FormatFloat(l.At, 'f', -1, 64)
	text := localfile.Excerpt{Limit: p.keep.Text}
	text.Text(l.Text)
	emitUpsert(p.f, "prompt_history", &typedPrompt{
		ID: fmt.Sprintf("%s:%s:%s", l.Session, at, hex.EncodeToString(sum[:8])), SessionID: l.Session, Text: text.Marked(),
		Cut:       text.Cut(),
		Timestamp: localfile.RecordTime(at),
	})
	return nil
}
