package recorded

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const testManifest = `{
  "protocol_version": "0.1.0", "connector_id": "fernpost", "version": "1", "display_name": "Fernpost",
  "runtime_requirements": {"bindings": {"network": {"required": true}}, "environment_variables": [
    {"name": "FERNPOST_PASSWORD", "required": true, "secret": true}, {"name": "FERNPOST_REGION"}]},
  "streams": [{"name": "letters", "semantics": "append_only", "checkpoint": "slice", "primary_key": "id",
    "schema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}},` +
	` "required": ["id", "text"]}}]
}`

// password has characters that every form of escaping spells in its own way.
const password = `s3cret/"pass word&+é`

// fernpost is a connector that leaks its password in every possible place.
func fernpost(pages string) connectorkit.Connector {
	return connectorkit.MustNew([]byte(testManifest),
		func(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
			secret := s.Env("FERNPOST_PASSWORD")
			client, err := s.HTTP(governhttp.Options{
				BaseURL: "https://" + s.Env("FERNPOST_REGION") + ".fernpost.test", Classify: connectorkit.ByStatus,
				Header: http.Header{"Authorization": {"Bearer " + secret}, "X-Api-Key": {secret}},
			})
			if err != nil {
				return nil, err
			}
			page := func(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
				resp, err := client.Do(ctx, governhttp.Request{
					Method: http.MethodPost, Path: "v1/" + url.PathEscape(secret) + "/letters",
					Query:  url.Values{"key": {secret}, "q": {"from " + secret}, "after": {at["after"]}, "pages": {pages}},
					Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
					Body:   []byte(url.Values{"password": {secret}, "name": {"Ada"}, "note": {secret}}.Encode()),
				})
				if err != nil {
					return connectorkit.Page{}, err
				}
				var answer struct {
					Letters []map[string]any `json:"letters"`
					Next    string           `json:"next"`
				}
				if err := json.Unmarshal(resp.Body, &answer); err != nil {
					return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, err)
				}
				out := connectorkit.Page{Next: connectorkit.Cursor{"after": answer.Next}, More: len(answer.Letters) > 0}
				for _, l := range answer.Letters {
					out.Records = append(out.Records, connectorkit.Upsert(l))
				}
				return out, nil
			}
			return []connectorkit.Collector{connectorkit.PagedStream{Stream: "letters", Page: page}}, nil
		})
}

// office answers with the password in every place that there is.
type office struct{ asked int }

func (o *office) RoundTrip(r *http.Request) (*http.Response, error) {
	o.asked++
	body := map[string]any{
		"letters": []any{}, "next": "b", "access_token": "tok-of-the-answer",
		"session": map[string]any{"id": 5, "Api-Key": 12345678},
		"echo":    password, "encoded": base64.StdEncoding.EncodeToString([]byte(password)), "key": "L-1",
		"nextPageToken": "page-two",
	}
	switch r.URL.Query().Get("after") {
	case "":
		body["letters"], body["next"] = []any{map[string]any{"id": "1", "text": "Dear Ada"},
			map[string]any{"id": "2", "text": "with " + password}}, "a"
	case "a":
		body["letters"] = []any{map[string]any{"id": "3", "text": "Yours"}}
	}
	text, err := json.Marshal(body, json.Deterministic(true))
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(string(text))), Header: http.Header{
		"Content-Type": {"application/json"}, "Set-Cookie": {"sid=cookie-of-the-answer"},
		"X-Session-Token": {"header-of-the-answer"},
		"X-Echo":          {"for " + password}, "Etag": {`"v1"`},
	}}, err
}

func recordOffice(t *testing.T) []byte {
	t.Helper()
	env := map[string]string{"FERNPOST_PASSWORD": password, "FERNPOST_REGION": "north"}
	var data []byte
	synctest.Test(t, func(t *testing.T) {
		var err error
		if data, err = recordRuns(t.Context(), fernpost("1"), func(name string) string { return env[name] },
			&office{}); err != nil {
			t.Fatal(err)
		}
	})
	return data
}

func parsed(t *testing.T, data []byte) *Recording {
	t.Helper()
	file := filepath.Join(t.TempDir(), "deep", "recorded.json")
	if err := writeFile(file, data); err != nil {
		t.Fatal(err)
	}
	r, err := ReadRecording(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSecretsAreNotRecorded looks for the password and for the credentials of the
// answers in every spelling, and for the content, which stays.
func TestSecretsAreNotRecorded(t *testing.T) {
	t.Parallel()
	data := recordOffice(t)
	secrets := []string{"s3cret", "tok-of-the-answer", "cookie-of-the-answer", "header-of-the-answer", "12345678",
		"Authorization", "X-Api-Key", "X-Session"}
	for _, spell := range secretSpellings {
		secrets = append(secrets, spell(password))
	}
	for _, secret := range secrets {
		if strings.Contains(string(data), secret) {
			t.Errorf("%q is recorded", secret)
		}
	}
	for _, content := range []string{"Dear Ada", "Yours", "L-1", "page-two", "name=Ada", "north", `\"v1\"`,
		"redacted-FERNPOST_PASSWORD"} {
		if !strings.Contains(string(data), content) {
			t.Errorf("%q is lost", content)
		}
	}
}

// TestRecordingIsReplayed makes the runs again without a network and without the
// password, and finds nothing wrong.
func TestRecordingIsReplayed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "recorded.json")
	if err := os.WriteFile(file, recordOffice(t), 0o600); err != nil {
		t.Fatal(err)
	}
	Run(t, fernpost("1"), file)
}

// TestReplayTellsWhatIsWrong holds the words of each failure.
func TestReplayTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	data := recordOffice(t)
	for name, c := range map[string]struct {
		connector connectorkit.Connector
		change    func(*Recording)
		want      string
	}{
		"something else is asked": {fernpost("2"), func(*Recording) {},
			"asked something that is not recorded:\n\tPOST " +
				"https://north.fernpost.test/v1/redacted-FERNPOST_PASSWORD/letters?after=&key=redacted&pages=2"},
		"and what there is": {fernpost("2"), func(*Recording) {},
			"the recording has of that address:\n\tPOST " +
				"https://north.fernpost.test/v1/redacted-FERNPOST_PASSWORD/letters?after=&key=redacted&pages=1"},
		"another address": {fernpost("1"), func(r *Recording) { r.Environment["FERNPOST_REGION"] = "south" },
			"the recording has nothing of that address"},
		"asked too often": {fernpost("1"), func(r *Recording) { r.Exchanges = r.Exchanges[:len(r.Exchanges)-1] },
			"asked more often than recorded"},
		"not asked for": {fernpost("1"), func(r *Recording) {
			r.Exchanges = append(r.Exchanges, Exchange{Request: Request{Method: "GET", URL: "https://x.test/"}})
		}, "recorded and never asked for:\n\tGET https://x.test/"},
		"no credential": {fernpost("1"), func(r *Recording) { delete(r.Environment, "FERNPOST_PASSWORD") },
			"run 1: the run ended as failed"},
		"another shape": {fernpost("1"), func(r *Recording) {
			r.Exchanges[0].Answer.JSON = []byte(`{"letters":[{"id":"1"}],"next":"a"}`)
		}, "run 1 leaves something out: letters: schema_mismatch"},
		"an empty stream": {fernpost("1"), func(r *Recording) {
			for i := range r.Exchanges[:2] {
				r.Exchanges[i].Answer.JSON = []byte(strings.Replace(string(r.Exchanges[i].Answer.JSON), `"letters"`, `"none"`, 1))
			}
		}, "stream letters gave nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := parsed(t, data)
			c.change(r)
			synctest.Test(t, func(t *testing.T) {
				if err := replayRuns(t.Context(), c.connector, r); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
			})
		})
	}
}

func TestNoRecordingSaysHowToMakeOne(t *testing.T) {
	t.Parallel()
	if _, err := ReadRecording(filepath.Join(t.TempDir(), "none.json")); err == nil ||
		!strings.Contains(err.Error(), "-record") {
		t.Errorf("%v", err)
	}
}

// TestRecordingIsRefused rather than written with a secret in it.
func TestRecordingIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := newRedaction(map[string]string{"PIN": "1234"}); err == nil || strings.Contains(err.Error(), "1234") {
		t.Errorf("a short secret: %v", err)
	}
	hide, err := newRedaction(map[string]string{"TOKEN": "abcdefgh"})
	if err != nil {
		t.Fatal(err)
	}
	leak := &Recording{Environment: map[string]string{"OTHER": "x-abcdefgh"}}
	if _, err := leak.encodeRecording(hide); err == nil || !strings.Contains(err.Error(), "TOKEN") ||
		strings.Contains(err.Error(), "abcdefgh") {
		t.Errorf("a leak: %v", err)
	}
}

// TestBodiesKeepTheirForm returns every kind of body unchanged.
func TestBodiesKeepTheirForm(t *testing.T) {
	t.Parallel()
	hide, err := newRedaction(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{``, `{"n":1.50,"big":12345678901234567890,"deep":[{"a":null,"b":[true,false]}]}`, `[]`,
		`7`, `"text"`, "<p>page</p>", "\xff\x00\x01", `{"broken":`} {
		a := hide.redactAnswer(&http.Response{StatusCode: 200}, []byte(body))
		if back, err := a.decodeBody(); err != nil || string(back) != body {
			t.Errorf("%q came back as %q, %v", body, back, err)
		}
	}
}
