package chatgpt_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/chatgpt"
)

// exported is a provider that reports the truth of its export.
type exported struct{ *chatgpt.ChatGPT }

func (e exported) Truth() providersim.Truth { return e.ExportTruth() }

// exportBed returns the built connector over an account that is visible only through its export. write stores the
// export and returns its path.
func exportBed(t *testing.T, cfg chatgpt.Config,
	write func(t *testing.T, g *chatgpt.ChatGPT) string) (*connectortest.Harness, *chatgpt.ChatGPT) {
	t.Helper()
	g := chatgpt.New(cfg)
	b := connectortest.NewHarness(t, connectortest.Target{
		Connector: played(t),
		Lane:      lane,
		Start: func(t *testing.T) *connectortest.Sim {
			return &connectortest.Sim{Provider: exported{g}, Gate: g.Gate(),
				Env: map[string]string{"PDPP_CHATGPT_EXPORT_PATH": write(t, g)}}
		},
	})
	return b, g
}

var lane = &connectortest.ListDetailParts{
	List: chatgpt.StreamConversations, Detail: chatgpt.StreamMessages, DetailPath: "/backend-api/conversation/",
	TimeField: "update_time",
	Completed: []string{"current_node", "message_count_on_current_branch"},
	Item: func(data json.RawMessage) string {
		var m struct {
			Conversation string `json:"conversation_id"`
		}
		_ = json.Unmarshal(data, &m) // one without belongs to none
		return m.Conversation
	},
}

func zipped(l chatgpt.Layout) func(*testing.T, *chatgpt.ChatGPT) string {
	return func(t *testing.T, g *chatgpt.ChatGPT) string {
		t.Helper()
		at := filepath.Join(t.TempDir(), "export.zip")
		writeZip(t, g, at, l)
		return at
	}
}

func writeZip(t *testing.T, g *chatgpt.ChatGPT, at string, l chatgpt.Layout) {
	t.Helper()
	f, err := os.Create(at)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := g.WriteExport(f, l); err != nil {
		t.Fatal(err)
	}
}

func unpacked(l chatgpt.Layout) func(*testing.T, *chatgpt.ChatGPT) string {
	return func(t *testing.T, g *chatgpt.ChatGPT) string {
		t.Helper()
		dir := t.TempDir()
		if err := g.UnpackExport(dir, l); err != nil {
			t.Fatal(err)
		}
		return dir
	}
}

var small = chatgpt.Config{Seed: 3, Chats: 130, Projects: 3, Shares: 7, Long: true}

// TestExport collects every layout of an export without a browser: everything arrives, a second
// run changes nothing, and a newer export brings what is new.
func TestExport(t *testing.T) {
	for name, write := range map[string]func(*testing.T, *chatgpt.ChatGPT) string{
		"zip": zipped(chatgpt.OneFile), "zip of parts": zipped(chatgpt.Parts),
		"folder": unpacked(chatgpt.OneFile), "folder of parts": unpacked(chatgpt.Parts),
		"folder with a zip": func(t *testing.T,
			g *chatgpt.ChatGPT) string {
			return filepath.Dir(zipped(chatgpt.Parts)(t, g))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, g := exportBed(t, small, write)
			b.Succeed(t)
			b.VerifyComplete(t)
			reportedLeftOut(t, b, map[string]int64{"Account and settings": 1, "Feedback on answers": 1})
			before := b.NewestChange(t, chatgpt.StreamMessages)
			b.Succeed(t)
			if after := b.NewestChange(t, chatgpt.StreamMessages); after != before {
				t.Errorf("messages moved from %d to %d although nothing changed", before, after)
			}
			if name != "zip" && name != "folder of parts" {
				return
			}
			for _, m := range []providersim.Mutation{{Op: "touch_chats", N: 9}, {Op: "add_chats", N: 4},
				{Op: "add_shares", N: 1}} {
				if _, err := g.Mutate(m); err != nil {
					t.Fatal(err)
				}
			}
			b.Env["PDPP_CHATGPT_EXPORT_PATH"] = write(t, g)
			b.Succeed(t)
			b.VerifyComplete(t)
		})
	}
}

// reportedLeftOut holds the accounts of an export's files to what is left out of them.
func reportedLeftOut(t *testing.T, b *connectortest.Harness, want map[string]int64) {
	t.Helper()
	stored, err := connectortest.StoredRecords(t.Context(), b.Store, localfile.CoverageStream)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, rec := range stored {
		var c localfile.Coverage
		if err := json.Unmarshal(rec.Data, &c); err != nil || len(c.Unrecognized) > 0 {
			t.Errorf("%s: %v", rec.Data, err)
		}
		for kind, n := range c.LeftOut {
			got[kind] += n
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("left out: %v, want %v", got, want)
	}
}

// TestExportIsTold ends runs over invalid exports with a message that names the next step.
func TestExportIsTold(t *testing.T) {
	whole := func(t *testing.T, g *chatgpt.ChatGPT) []byte {
		data, err := os.ReadFile(zipped(chatgpt.OneFile)(t, g))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for name, c := range map[string]struct {
		code string
		file func(t *testing.T, g *chatgpt.ChatGPT) []byte
	}{
		"cut short": {"chatgpt_export_damaged",
			func(t *testing.T, g *chatgpt.ChatGPT) []byte { b := whole(t, g); return b[:len(b)/2] }},
		"flipped bits": {"chatgpt_export_damaged", func(t *testing.T, g *chatgpt.ChatGPT) []byte {
			return packed(t, "conversations.json", `[{"id":"a"},{"id"`)
		}},
		"another thing": {"chatgpt_export_missing",
			func(t *testing.T, g *chatgpt.ChatGPT) []byte { return packed(t, "holiday.json", `[]`) }},
		"no list": {"chatgpt_export_damaged",
			func(t *testing.T, g *chatgpt.ChatGPT) []byte { return packed(t, "conversations.json", `{"items":[]}`) }},
		"unpacks to much": {"chatgpt_export_damaged", func(t *testing.T, g *chatgpt.ChatGPT) []byte {
			return packed(t, "conversations.json", "[1"+strings.Repeat(strings.Repeat(" ", 30<<20)+",1", 3)+"]")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := exportBed(t, chatgpt.Config{Chats: 5}, func(t *testing.T, g *chatgpt.ChatGPT) string {
				at := filepath.Join(t.TempDir(), "export.zip")
				if err := os.WriteFile(at, c.file(t, g), 0o600); err != nil {
					t.Fatal(err)
				}
				return at
			})
			result := b.Run(t, launch.RunRequest{})
			if e := result.DoneError; result.Status != runner.Failed || e == nil || e.Code != c.code ||
				e.RecoveryHint.Action != protocol.ManualActionRequired {
				t.Errorf("ended as %s %+v\n%s", result.Status, e, result.StderrTail)
			}
			if result.RecordsEmitted > 0 {
				t.Errorf("%d records of a damaged export", result.RecordsEmitted)
			}
		})
	}
}

func packed(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create(name)
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestOddConversationsOfAnExport declares what it cannot read and takes the rest; of a
// conversation that is there twice the newer one counts.
func TestOddConversationsOfAnExport(t *testing.T) {
	b, _ := exportBed(t, chatgpt.Config{}, func(t *testing.T, _ *chatgpt.ChatGPT) string {
		dir := t.TempDir()
		text := `[{"id":"old","update_time":5,"mapping":{"a":{"message":null}}},{"title":"no id","update_time":3,` +
			`"mapping":{}},{"id":"no tree","update_time":9},
			{"id":"old","title":"newer","update_time":7,"mapping":{"a":{"id":"a","message":{"author":{"role":"user"},` +
			`"content":{"content_type":"text","parts":["x"]}}}}},
			{"id":"no time","mapping":{}},7]`
		if err := os.WriteFile(filepath.Join(dir, "conversations-000.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	})
	result := b.Succeed(t)
	stored, err := connectortest.StoredRecords(t.Context(), b.Store, chatgpt.StreamConversations)
	if err != nil || len(stored) != 1 || !strings.Contains(string(stored["old"].Data), `"newer"`) {
		t.Errorf("stored %v, %v", stored, err)
	}
	if len(result.KnownGaps) == 0 {
		t.Error("what cannot be read is not declared")
	}
}
