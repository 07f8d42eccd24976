package runner

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/protocol"
)

// FuzzForeignTranscript lets a connector write any bytes and exit with any code. The run always ends in an outcome.
// Commits contain only valid lines, in order. A successful run has committed or declared everything, and no cursor
// precedes its records.
func FuzzForeignTranscript(f *testing.F) {
	done := `{"type":"DONE","status":"succeeded","records_emitted":2}`
	for _, seed := range []string{
		"",
		rec("notes", "1") + "\n" + state("notes", 2) + "\n" + rec("legacy", "3") + "\n" + state("legacy", 4) + "\n" + done +
			"\n",
		rec("notes", "1") + "\n" + rec("notes", "1") + "\n" + done + "\n" + done + "\n",
		rec("notes", "1") + "\n" + state("notes", 2) + "\ndebug: n is 3\n" + rec("notes", "4") + "\n" + done,
		`{"type":"RECORD","stream":"notes","key":"a","data":{"id":"b"},"emitted_at":"2026-03-01"}` + "\n" +
			rec("notes", "2") + "\n" + done + "\r\n",
		`{"type":"RECORD","stream":"notes","key":"a","op":"delete"}` + "\n\n" + state("notes", 2) + "\n" +
			rec("notes", "a")[:20],
		gapOf("messages", "threads", "m1") + "\n" + state("threads", 1, accounted("", "m1", "")) + "\n" +
			`{"type":"SKIP_RESULT","stream":"notes","reason":"rate_limited"}` + "\n" + done,
		`{"type":"PROGRESS","message":"x","provider_wait":{"sender":"api","wait_ms":5,"reason":"retry_after"}}` + "\n" +
			`{"type":"DETAIL_GAPS_PAGE_REQUEST","request_id":"p"}` + "\n" + done,
		`{"type":"INTERACTION","request_id":"q","kind":"otp","message":"?"}` + "\n{}\n[]\nnull\n\x00\xff\n",
	} {
		f.Add([]byte(seed), byte(0))
		f.Add([]byte(seed), byte(1))
	}
	f.Fuzz(func(t *testing.T, out []byte, exit byte) {
		stuck := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("the run does not end: %q", out)) })
		defer stuck.Stop()
		d := newDialogue(t, "notes", "legacy", "threads", "messages")
		o := d.play(t.Context(), func(c *connector) int {
			c.start()
			heard := make(chan struct{})
			go func() {
				defer close(heard)
				_, _ = io.Copy(io.Discard, c.p.stdin)
			}()
			_, _ = c.p.fromStdout.Write(out)
			c.p.end(childprocess.ExitStatus{Code: int(exit)})
			<-heard
			return int(exit)
		})
		holdToWords(t, d, o, heardLines(out))
	})
}

// utterance is a line as a plain JSON reader reads it.
type utterance struct {
	Type   string         `json:"type"`
	Stream string         `json:"stream"`
	Key    jsontext.Value `json:"key"`
	Data   jsontext.Value `json:"data"`
	Cursor jsontext.Value `json:"cursor"`
	Op     string         `json:"op"`
}

func heardLines(out []byte) (utterances []utterance) {
	for _, line := range bytes.Split(out, []byte("\n")) {
		var u utterance
		if json.Unmarshal(bytes.TrimSuffix(line, []byte("\r")), &u) == nil {
			utterances = append(utterances, u)
		}
	}
	return utterances
}

// key is the record's key as the runner writes it.
func (u *utterance) key() string {
	var one string
	if json.Unmarshal(u.Key, &one) == nil {
		return one
	}
	var parts []string
	_ = json.Unmarshal(u.Key, &parts)
	return protocol.CompoundKey(parts...)
}

func holdToWords(t *testing.T, d *dialogue, o Outcome, utterances []utterance) {
	t.Helper()
	next := 0 // the line from which the next committed record comes, at the earliest
	committed := map[int]bool{}
	declared := map[string]bool{}
	for _, s := range d.slices {
		for _, r := range s.Records {
			at := slices.IndexFunc(utterances[next:], func(u utterance) bool {
				return u.Type == "RECORD" && u.Stream == r.Stream && u.key() == r.Key && (u.Op == "delete") == r.Deleted() &&
					(r.Deleted() || bytes.Equal(u.Data, r.Data))
			})
			if at < 0 {
				t.Fatalf("%s %s is committed, and no line from %d on says it", r.Stream, r.Key, next)
			}
			next += at
			committed[next] = true
			next++
		}
		for _, g := range s.Gaps {
			declared[g.Stream+"/"+g.RecordKey] = true
		}
		for _, c := range s.Cursors {
			at := slices.IndexFunc(utterances, func(u utterance) bool {
				return u.Type == "STATE" && u.Stream == c.Stream && bytes.Equal(u.Cursor, c.Cursor)
			})
			if at < 0 {
				t.Fatalf("the cursor of %s is moved to %s, which no line says", c.Stream, c.Cursor)
			}
			for i, u := range utterances[:at] {
				if u.Type == "RECORD" && u.Stream == c.Stream && !committed[i] && !declared[u.Stream+"/"+u.key()] {
					t.Fatalf("the cursor of %s is ahead of its record in line %d", c.Stream, i)
				}
			}
		}
	}
	if o.Status != Succeeded {
		return
	}
	for i, u := range utterances {
		if u.Type == "RECORD" && !committed[i] && !declared[u.Stream+"/"+u.key()] {
			t.Fatalf("the run succeeded, and line %d (%s %s) is neither committed nor declared", i, u.Stream, u.key())
		}
	}
}
