package chatgpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/manifest"
)

func TestMoments(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`"2026-02-01T10:00:00.123456Z"`:      "2026-02-01T10:00:00.123456Z",
		`"2026-02-01T12:00:00.123456+02:00"`: "2026-02-01T10:00:00.123456Z",
		`"2026-02-01T10:00:00"`:              "2026-02-01T10:00:00.000000Z",
		`1769940000.123456`:                  "2026-02-01T10:00:00.123456Z",
		`1769940000`:                         "2026-02-01T10:00:00.000000Z",
		`1.769940000123456e9`:                "2026-02-01T10:00:00.123456Z",
		`null`:                               "", `0`: "", `-5`: "", `0.0`: "", `"yesterday"`: "", `1e300`: "", `true`: "",
		`{}`: "", `"1969-01-01T00:00:00Z"`: "",
	} {
		var m flexibleTime
		if err := decodeLenient([]byte(raw), &m); err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		got := ""
		if text := m.recordTime(); text != nil {
			got = *text
		}
		if got != want {
			t.Errorf("%s is %q, want %q", raw, got, want)
		}
	}
}

// TestEveryContent reads each kind of content, content with unexpected members, and an unknown kind.
func TestEveryContent(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"content_type":"text","parts":["a","","b"]}`:         "a\nb",
		`{"content_type":"text","parts":[null,3,"b",{"x":1}]}`: "b",
		`{"content_type":"text"}`:                              "",
		`{"content_type":"multimodal_text","parts":[{"asset_pointer":"sediment://f1"},"see",{"text":"said"}]}`: "see\nsaid",
		`{"content_type":"code","language":"python","text":"x=1"}`:                                             "x=1",
		`{"content_type":"execution_output","text":"1"}`:                                                       "1",
		`{"content_type":"thoughts","thoughts":[{"summary":"s","content":"c","chunks":[]}]}`:                   "s\nc",
		`{"content_type":"thoughts","thoughts":"none"}`:                                                        "",
		`{"content_type":"reasoning_recap","content":"Thought for 3 s"}`:                                       "Thought for 3 s",
		`{"content_type":"tether_quote","title":"t","text":"q","url":"u"}`:                                     "t\nq\nu",
		`{"content_type":"tether_browsing_display","result":"r","summary":null}`:                               "r",
		`{"content_type":"model_editable_context","model_set_context":"m"}`:                                    "m",
		`{"content_type":"user_editable_context","user_profile":"p","user_instructions":"i"}`:                  "p\ni",
		`{"content_type":"system_error","name":"n","text":"e"}`:                                                "n\ne",
		`{"content_type":"hologram","text":"h","parts":["x"]}`:                                                 "x\nh",
		`{"content_type":7,"text":"h"}`:                                                                        "h",
		`"words"`:                                                                                              "",
		`{"content_type":"text","parts":["\ud83d broken"]}`:                                                    "\uFFFD broken",
	} {
		var c messageContent
		if err := decodeLenient([]byte(raw), &c); err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		content, got := c.readContentText(), ""
		if text := content.joinedText(); text != nil {
			got = *text
		}
		if got != want {
			t.Errorf("%s says %q, want %q", raw, got, want)
		}
	}
	var c messageContent
	_ = decodeLenient([]byte(`{"content_type":"multimodal_text","parts":[{"asset_pointer":"file-service://file-1"},`+
		`{"asset_pointer":"file-2"}]}`), &c)
	if reported := c.readContentText(); strings.Join(reported.files, " ") != "file-1 file-2" {
		t.Errorf("files %q", reported.files)
	}
}

func TestLongContentIsCut(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a", "é", "漢", "\U0001F407"} {
		w := contentText{parts: []string{"x" + strings.Repeat(unit, maxContent)}}
		s := *w.joinedText()
		if len(s) > maxContent || len(s) < maxContent-utf8.UTFMax || !utf8.ValidString(s) ||
			!strings.HasSuffix(s, truncationMarker) {
			t.Errorf("%d bytes of %q, valid %t", len(s), unit, utf8.ValidString(s))
		}
	}
}

// TestNotAConversation never takes an answer of another shape for an empty conversation.
func TestNotAConversation(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{}`, `[]`, `null`, `"x"`, `{"conversation_id":"a"}`,
		`{"conversation_id":"a","mapping":null}`,
		`{"mapping":{}}`, `{"conversation_id":"a","mapping":[]}`, `{"detail":"You're making requests too quickly."}`} {
		if c, err := parseConversation([]byte(raw)); err == nil {
			t.Errorf("%s is the conversation %+v", raw, c)
		}
	}
}

// TestTreesThatAreNone survives circles, orphans and a current node that is not there.
func TestTreesThatAreNone(t *testing.T) {
	t.Parallel()
	c, err := parseConversation([]byte(`{"conversation_id":"c","current_node":"a","mapping":{
		"a":{"id":"a","parent":"b","children":["b"],"message":{"author":{"role":"user"},` +
		`"content":{"content_type":"text","parts":["1"]}}},
		"b":{"id":"b","parent":"a","children":["a","gone"],"message":{"author":{"role":"assistant"},` +
		`"content":{"content_type":"text","parts":["2"]}}},
		"o":{"id":"o","parent":"lost","children":[],"message":{"author":{"role":"user"},` +
		`"content":{"content_type":"text","parts":["3"]}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.messageRecords()); n != 3 || len(c.currentBranch()) != 2 || *c.messagesOnBranch() != 2 {
		t.Errorf("%d records, branch %v", n, c.currentBranch())
	}
}

// FuzzConversation holds whatever can be read as a conversation to the declared shape: every
// record has it, every node with a message is there once, and nothing else is.
func FuzzConversation(f *testing.F) {
	f.Add([]byte(`{"conversation_id":"c","title":null,"create_time":1.5,"update_time":"2026-02-01T10:00:00Z",` +
		`"current_node":"b","mapping":{"a":{"id":"a","parent":null,"children":["b"],"message":null},"b":{"id":"b",` +
		`"parent":"a","children":[],"message":{"id":"b","author":{"role":"assistant"},"create_time":null,` +
		`"content":{"content_type":"multimodal_text","parts":["x",{"asset_pointer":"sediment://f"}]},` +
		`"metadata":{"model_slug":"m","finish_details":{"type":"stop"},"citations":[{"a":1}],"attachments":[{"id":"g"}]},` +
		`"recipient":"python"}}}}`))
	f.Add([]byte(`{"id":"c","mapping":{"x":{"message":{"content":{"content_type":"thoughts",` +
		`"thoughts":[{"summary":"s"}]}}}}}`))
	m, err := manifest.Parse(manifestJSON)
	if err != nil {
		f.Fatal(err)
	}
	validate, err := connectorkit.ValidateSchemas(m)
	if err != nil {
		f.Fatal(err)
	}
	judge := func(t *testing.T, stream string, data any) map[string]any {
		b, err := json.Marshal(data, json.Deterministic(true))
		if err != nil {
			t.Fatalf("%s cannot be written: %v", stream, err)
		}
		var tree map[string]any
		if err := json.Unmarshal(b, &tree); err != nil {
			t.Fatalf("%s cannot be read again: %v", stream, err)
		}
		if err := validate(stream, tree); err != nil {
			t.Fatalf("%s is not what it declares: %v\n%s", stream, err, b)
		}
		return tree
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := parseConversation(raw)
		if err != nil {
			return
		}
		judge(t, streamConversations, c.toRecord(c.messagesOnBranch()))
		want := 0
		for _, n := range c.Mapping {
			if n.Message != nil {
				want++
			}
		}
		on, got := c.currentBranch(), 0
		for _, id := range c.treeOrder() {
			n := c.Mapping[id]
			if n.Message == nil {
				continue
			}
			got++
			if id == "" {
				continue // it is declared as unreadable: it has no key
			}
			tree := judge(t, streamMessages, n.toRecord(id, c.conversationID(), on[id]))
			if text, ok := tree["content"].(string); ok && len(text) > maxContent {
				t.Fatalf("%d bytes of content", len(text))
			}
		}
		if got != want {
			t.Fatalf("%d of %d messages", got, want)
		}
	})
}

// FuzzElements cuts a list into its elements as a parser of the whole would.
func FuzzElements(f *testing.F) {
	f.Add([]byte(`[{"a":1}, [2] ,"x"]`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"a":[1]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got []string
		err := eachArrayElement(strings.NewReader(string(raw)), func(v jsontext.Value, offset int64) error {
			if string(raw[offset:offset+int64(len(v))]) != string(v) {
				t.Fatalf("element %s is not at %d", v, offset)
			}
			got = append(got, string(v))
			return nil
		})
		var want []jsontext.Value
		whole := decodeLenient(raw, &want)
		if whole == nil && want == nil {
			return // null
		}
		if whole == nil && (err != nil || len(got) != len(want)) {
			t.Fatalf("%d of %d elements: %v", len(got), len(want), err)
		}
	})
}
