package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const diaryManifest = `{"protocol_version":"0.1.0","connector_id":"diary","version":"1.0.0","display_name":"Diary",
"runtime_requirements":{"bindings":{"network":{"required":true}}},
"capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"It is cheap.",
 "maximum_staleness_seconds":86400}},
"streams":[{"name":"notes","semantics":"mutable_state","primary_key":"id","consent_time_field":"at",
 "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"title":{"type":"string"},
  "stars":{"type":"integer"},"private":{"type":"string"},"at":{"type":"string","format":"date-time"}}},
 "query":{"search":["title","private"]}},
{"name":"letters","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",
 "properties":{"id":{"type":"string"},"text":{"type":"string"}}}}]}`

// fillDiary stores 151 notes, which is more than a page, the last of another year, and a letter.
func (s *served) fillDiary() {
	s.Helper()
	must := func(err error) {
		s.Helper()
		if err != nil {
			s.Fatal(err)
		}
	}
	env, _, _ := testEnvironment(s.T, s.vars)
	st, err := (&command.Invocation{Env: env}).OpenStore(s.Context(), command.MustExist)
	must(err)
	defer st.Close()
	now, ctx := s.now(), s.Context()
	_, err = st.PutManifest(ctx, "diary", []byte(diaryManifest), now)
	must(err)
	must(st.CreateConnection(ctx, store.Connection{ID: "cin_diary", ConnectorID: "diary", DisplayName: "My diary",
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, ManifestGeneration: 1, CreatedAt: now,
		UpdatedAt: now}))
	l, err := st.StartRun(ctx, store.RunStart{RunID: "run_1", ConnectionID: "cin_diary", ConnectorID: "diary",
		Trigger: store.TriggerManual, Holder: "test", TTL: time.Hour, Streams: []store.StreamSpec{
			{Name: "notes", TimeField: "at", SearchFields: []string{"title", "private"}}, {Name: "letters"}}}, now)
	must(err)
	var all []slice.Record
	for i := range 151 {
		at := fmt.Sprint(2024+i/150) + "-02-03T04:05:06"
		all = append(all, slice.Record{Stream: "notes", Key: fmt.Sprint("n", i), EmittedAt: "2026-01-01T00:00:00Z",
			SemanticTime: at + ".000000Z", Data: fmt.Appendf(nil,
				`{"id":"n%d","title":"Pear %d","stars":%d,"private":"quince","at":"%sZ","extra":"medlar"}`, i, i, i, at)})
	}
	all = append(all, slice.Record{Stream: "letters", Key: "l1", EmittedAt: "2026-01-01T00:00:00Z",
		Data: []byte(`{"id":"l1","text":"quince"}`)})
	_, err = st.CommitSlice(ctx, l, slice.Slice{Records: all}, now)
	must(err)
}

// Statements have the same answers here and from a server; with the token of a grant they have what the grant allows,
// and neither an answer nor an error has more. Both databases are asked.
func TestSQL(t *testing.T) {
	onBoth(t, func(t *testing.T, vars map[string]string) {
		s := serveLocal(t, vars, "--role", "web")
		s.fillDiary()
		code, granted, errOut := s.pdpp("grants", "create", "Reader", "--purpose", "reading", "--until", "2025-01-01",
			"--stream", "cin_diary/notes:title,stars,at")
		if code != failure.ExitOK {
			t.Fatal(granted, errOut)
		}
		from := func(token string) map[string]string {
			return map[string]string{"PDPP_HOME": t.TempDir(), "PDPP_SERVER": s.url, "PDPP_TOKEN": token}
		}
		owner, grant := s.vars, from(regexp.MustCompile(`pdpp_gt_\w+`).FindString(granted))
		run := func(vars map[string]string, args ...string) (int, string) {
			env, out, errOut := testEnvironment(t, vars, append([]string{"sql"}, args...)...)
			code := Main(env)
			return code, out.String() + errOut.String()
		}
		remote := from(s.token())
		for statement, want := range map[string]string{
			"SELECT sum(stars) AS s, json_extract(_other, '$.extra') AS e FROM notes": "s,e\n11325,medlar\n",
			"SELECT count(*) AS n, max(text) AS t FROM letters":                       "n,t\n1,quince\n",
			"SELECT count(*) AS n FROM notes_search('quince')":                        "n\n151\n",
		} {
			for place, vars := range map[string]map[string]string{"here": owner, "from the server": remote} {
				if code, got := run(vars, "--csv", statement); code != failure.ExitOK || got != want {
					t.Errorf("%s: %s: exit %d, %q, want %q", place, statement, code, got, want)
				}
			}
		}
		const none = "no such "
		for statement, want := range map[string]string{
			"SELECT count(*) AS n, sum(stars) AS s FROM notes":                "n,s\n150,11175\n",
			"SELECT title FROM notes WHERE stars = 0":                         "title\nPear 0\n",
			"SELECT table_name FROM _about":                                   "table_name\nnotes\n",
			"SELECT count(*) AS n FROM sqlite_schema WHERE sql LIKE '%ivat%'": "n\n0\n",
			"SELECT count(_other) AS n, count(_version) AS v FROM notes":      "n,v\n0,0\n",
			"SELECT private FROM notes":                                       none + "column: private",
			"SELECT nobody FROM notes":                                        none + "column: nobody",
			"SELECT notes.private FROM notes":                                 none + "column: notes.private",
			"SELECT * FROM letters":                                           none + "table: letters",
			"SELECT * FROM nowhere":                                           none + "table: nowhere",
			"SELECT * FROM notes_search":                                      none + "table: notes_search",
			"SELECT * FROM records":                                           none + "table: records",
			"DELETE FROM notes":                                               "syntax error",
		} {
			code, got := run(grant, "--csv", statement)
			refused := strings.HasPrefix(want, none) || want == "syntax error"
			if (code == failure.ExitUsage) != refused || !refused && got != want || !strings.Contains(got, want) {
				t.Errorf("%s: exit %d, %q, want %q", statement, code, got, want)
			}
			for _, hidden := range []string{"quince", "medlar", "Pear 150", "cin_diary/", "My diary"} {
				if strings.Contains(got, hidden) {
					t.Errorf("%s: %q has %q", statement, got, hidden)
				}
			}
		}
		for _, c := range []struct {
			vars map[string]string
			args []string
			want string
		}{
			{owner, []string{"SELECT * FROM notes", "--stream", "letters"}, none + "table: notes"},
			{remote, []string{"SELECT count(*) AS n FROM letters", "--connection", "My diary", "--stream", "letters"}, "n\n1\n"},
			{grant, []string{"VALUES (1)", "--stream", "letters"}, "column1\n1\n"},
			{grant, []string{"SELECT * FROM letters", "--stream", "letters"}, none + "table: letters"},
			{grant, []string{"VALUES (1)", "--connection", "My diary"}, "only reads"},
			{grant, []string{"SELECT title, stars FROM notes", "--json", "--limit", "1", "--connection", "cin_diary"},
				`{"columns":["title","stars"],"more":true,"rows":[{"stars":0,"title":"Pear 0"}]}` + "\n"},
		} {
			if _, got := run(c.vars, c.args...); !strings.Contains(got, c.want) {
				t.Errorf("%q: %q, want %q", c.args, got, c.want)
			}
		}
	})
}
