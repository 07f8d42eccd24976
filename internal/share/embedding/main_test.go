//pdpp:tier programs

package embedding_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// roleVariable makes the test binary an endpoint for vectors instead of running tests. Such a child runs no test and
// starts nothing.
const roleVariable = "PDPP_TEST_EMBEDDING_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "" {
		os.Exit(m.Run())
	}
	go func() { // it ends with the test that started it
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Fprintln(os.Stderr, playEndpoint(os.Getenv(roleVariable)))
	os.Exit(1)
}

// synonyms are words of one meaning.
var synonyms = map[string]string{"pears": "fruit", "apples": "fruit", "quinces": "fruit", "boots": "shoes",
	"sandals": "shoes", "zebra": "animal", "quokka": "animal", "narwhal": "animal"}

// meaningOf returns a vector that depends only on the words of a text and what they mean.
func meaningOf(text string) []float32 {
	v := make([]float32, 64)
	v[0] = 0.01
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if same := synonyms[word]; same != "" {
			word = same
		}
		h := fnv.New32a()
		h.Write([]byte(word))
		v[1+h.Sum32()%63]++
	}
	return v
}

// playEndpoint answers as Ollama and as OpenAI do, with a secret where the model is called secret. It rejects
// everything where the model is called rejects, and otherwise texts with the word poison, and fails for texts with
// outage. It prints its address and then a line for each text.
func playEndpoint(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Model == "rejects" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if asked.Model == "secret" && r.Header.Get("Authorization") != "Bearer open sesame" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		all := [][]float32{}
		status := http.StatusOK
		for _, text := range asked.Input {
			fmt.Printf("%q\n", text)
			switch {
			case strings.Contains(text, "poison"):
				status = http.StatusBadRequest
			case strings.Contains(text, "outage"):
				status = http.StatusServiceUnavailable
			}
			all = append(all, meaningOf(text))
		}
		switch {
		case status != http.StatusOK:
			w.WriteHeader(status)
		case r.URL.Path == "/api/embed":
			_ = json.NewEncoder(w).Encode(map[string]any{"model": asked.Model, "embeddings": all})
		case r.URL.Path == "/v1/embeddings":
			var data []map[string]any
			for i := range all { // in any order
				data = append(data, map[string]any{"index": len(all) - 1 - i, "embedding": all[len(all)-1-i]})
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
}

// endpoint is a running server for vectors.
type endpoint struct {
	t       testing.TB
	address string
	lines   *bufio.Scanner
}

// startEndpoint starts one as a process of its own. It ends with the test.
func startEndpoint(t testing.TB) *endpoint {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=127.0.0.1:0")
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	e := &endpoint{t: t, lines: bufio.NewScanner(out)}
	e.address = "http://" + e.next()
	return e
}

// next returns the next text that the server received, or first its address.
func (e *endpoint) next() string {
	e.t.Helper()
	if !e.lines.Scan() {
		e.t.Fatalf("the endpoint ended: %v", e.lines.Err())
	}
	return e.lines.Text()
}

// received returns the texts that came before a last one, which the caller sent.
func (e *endpoint) received(last string) (texts []string) {
	e.t.Helper()
	for {
		switch line := e.next(); line {
		case fmt.Sprintf("%q", last):
			return texts
		default:
			texts = append(texts, strings.Trim(line, `"`))
		}
	}
}
