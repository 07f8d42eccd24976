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

// document is an authored Markdown file: a prompt or a skill.
type document struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Content     string `json:"content"`
	Cut         bool   `json:"content_cut,omitzero"`
	Path        string `json:"path"`
	MtimeEpoch  int64  `json:"mtime_epoch"`
}

func documents(stream string, keep localfile.Limits) func(*localfile.File, []byte) error {
	return func(f *localfile.File, content []byte) error {
		name := path.Base(f.Rel)
		if stream == "skills" {
			name = path.Base(path.Dir(f.Rel))
		}
		head, body := localfile.FrontMatter(content)
		text := localfile.Excerpt{Limit: keep.Document}
		text.Text(body)
		d := document{
			ID: stream + ":" + name, Name: strings.TrimSuffix(name, ".md"), Description: localfile.HeadText(head, "description"),
			Content: text.Marked(), Cut: text.Cut() || f.Cut, Path: f.Path, MtimeEpoch: f.Modified.Unix(),
		}
		if own := localfile.HeadText(head, "name"); own != "" {
			d.Name = own
		}
		upsert(f, stream, &d)
		return nil
	}
}

// rule is one decision about commands.
type rule struct {
	ID         string `json:"id"`
	Ruleset    string `json:"ruleset"`
	Text       string `json:"rule_text"`
	Index      int    `json:"rule_index"`
	Path       string `json:"path"`
	MtimeEpoch int64  `json:"mtime_epoch"`
}

// ruleLines reads a set of rules, one on each line. What is no longer in it is gone.
func ruleLines(f *localfile.File, content []byte) error {
	name := path.Base(f.Rel)
	n := 0
	for line := range strings.Lines(strings.ToValidUTF8(string(content), "\uFFFD")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") {
			continue
		}
		upsert(f, "rules", &rule{
			ID: fmt.Sprintf("rules:%s:%d", name, n), Ruleset: strings.TrimSuffix(name, ".rules"), Text: localfile.Short(line, 20_000), Index: n,
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

// typed is one thing that was typed at the prompt.
type typed struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id,omitzero"`
	Text      string `json:"text"`
	Cut       bool   `json:"text_cut,omitzero"`
	Timestamp string `json:"timestamp,omitzero"`
}

type promptLines struct {
	f    *localfile.File
	keep localfile.Limits
}

// promptHistory reads history.jsonl, which is trimmed from its front: the key of a line is
// what it says.
func promptHistory(keep localfile.Limits) func(*localfile.File, jsontext.Value) localfile.LineReader {
	return func(f *localfile.File, _ jsontext.Value) localfile.LineReader { return &promptLines{f, keep} }
}

func (p *promptLines) End() {}

func (p *promptLines) State() any { return nil }

var errNoText = errors.New("the line has no text")

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
		return errNoText
	}
	sum := sha256.Sum256([]byte(l.Text))
	at := strconv.FormatFloat(l.At, 'f', -1, 64)
	text := localfile.Excerpt{Limit: p.keep.Text}
	text.Text(l.Text)
	upsert(p.f, "prompt_history", &typed{
		ID: fmt.Sprintf("%s:%s:%s", l.Session, at, hex.EncodeToString(sum[:8])), SessionID: l.Session, Text: text.Marked(), Cut: text.Cut(),
		Timestamp: localfile.Time(at),
	})
	return nil
}
