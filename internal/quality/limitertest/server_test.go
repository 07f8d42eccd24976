package limitertest

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain plays the program that dies without stopping its nginx.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PDPP_TEST_NGINX_ORPHAN"); dir != "" {
		s, err := Run(os.Getenv(Variable), dir, Limit{Rate: 10}, 1)
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(os.Stdout, s.URL+"\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// A second at one request per second is longer than any of these bursts takes.
func TestLimitIsNginxsOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit   Limit
		want    string // of five requests at once
		message string
	}{
		"no burst":    {Limit{Rate: 1}, "200 429 429 429 429", ""},
		"burst":       {Limit{Rate: 1, Burst: 3}, "200 200 200 200 429", ""},
		"retry after": {Limit{Rate: 1, RetryAfter: 1}, "200 429 429 429 429", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Start(t, c.limit, 5)
			var got []string
			for i := range 5 {
				resp, body := get(t, s.URL+"/"+Path(i))
				got = append(got, resp.Status[:3])
				text := resp.Header.Get("Retry-After")
				if resp.StatusCode == http.StatusOK && (body != Body(i) || text != "") {
					t.Errorf("item %d: %q, Retry-After %q", i, body, text)
				}
				if resp.StatusCode != http.StatusOK && text != c.message {
					t.Errorf("refusal with Retry-After %q, want %q", text, c.message)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("answers %v, want %s", got, c.want)
			}
			log, err := s.Stop()
			if err != nil || len(log) != 5 {
				t.Fatalf("log %v, %v", log, err)
			}
			for i, r := range log {
				if r.Path != Path(i) || time.Since(r.Arrived) > time.Hour || r.Answered.Before(r.Arrived) ||
					http.StatusText(r.Status) == "" {
					t.Errorf("log line %+v", r)
				}
			}
		})
	}
}

func TestHeldRequestsAreAnsweredLater(t *testing.T) {
	t.Parallel()
	s := Start(t, Limit{Rate: 10, Burst: 1, Hold: true}, 2)
	for i := range 2 {
		if resp, _ := get(t, s.URL+"/"+Path(i)); resp.StatusCode != http.StatusOK {
			t.Errorf("item %d: %s", i, resp.Status)
		}
	}
	log, err := s.Stop()
	if err != nil || len(log) != 2 {
		t.Fatalf("log %v, %v", log, err)
	}
	if held := log[1].Answered.Sub(log[1].Arrived); held < 50*time.Millisecond {
		t.Errorf("second request was held for %s", held)
	}
}

func TestFailureToStartTellsWhy(t *testing.T) {
	t.Parallel()
	_, err := Run(Program(t), t.TempDir(), Limit{Rate: 0}, 0)
	if err == nil || !strings.Contains(err.Error(), "invalid rate") {
		t.Errorf("error %v, want nginx's own words", err)
	}
	if _, err := Run(filepath.Join(t.TempDir(), "absent"), t.TempDir(), Limit{Rate: 1}, 0); err == nil {
		t.Error("an absent program starts")
	}
}

// A test binary that is killed cannot stop anything.
func TestNginxEndsWithItsStarter(t *testing.T) {
	t.Parallel()
	Program(t)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PDPP_TEST_NGINX_ORPHAN="+dir)
	hold, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	get(t, strings.TrimSpace(url)+"/ready")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		resp, err := http.Get(strings.TrimSpace(url) + "/ready")
		if err != nil {
			return
		}
		resp.Body.Close()
	}
	t.Error("nginx outlives the program that started it")
}

func TestLogLine(t *testing.T) {
	t.Parallel()
	r, err := parseLine("1700000000.042 1.007 429 /items/7\n")
	want := Request{Arrived: time.UnixMilli(1699999999035), Answered: time.UnixMilli(1700000000042), Status: 429,
		Path: "items/7"}
	if err != nil || r != want {
		t.Errorf("parsed %+v, %v", r, err)
	}
	if _, err := parseLine("nonsense\n"); err == nil {
		t.Error("nonsense is a log line")
	}
}
