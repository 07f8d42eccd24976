// Package embedding turns texts into vectors at an endpoint that the owner chose, for searches by meaning. Nothing is
// sent anywhere unless there is a choice.
//
// Each field of a record has its own vector, so a search compares only fields that its reader may read.
package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/publicaddress"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Kinds of endpoints.
const (
	OpenAI = "openai" // POST /v1/embeddings, which many servers speak
	Ollama = "ollama" // POST /api/embed
)

var usualPaths = map[string]string{OpenAI: "/v1/embeddings", Ollama: "/api/embed"}

const (
	// embedTime limits one request of the worker, which may compute on a slow machine.
	embedTime   = time.Minute
	connectTime = 10 * time.Second
	maxEndpoint = 2000
	// maxAnswer limits the answer to a request: 64 vectors of the greatest length.
	maxAnswer = 64 * store.MaxVectorLength * 24
)

// CheckAddress returns the address that requests go to. One without a path gets the usual path of its kind.
func CheckAddress(kind, address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case usualPaths[kind] == "":
		return "", usererr.New("embedding_invalid", "There is no such kind of endpoint.", "Choose ollama or openai.")
	case err != nil || u.Host == "" || len(address) > maxEndpoint || u.Scheme != "https" && u.Scheme != "http":
		return "", usererr.New("embedding_invalid", "The address is not one of http or https.",
			"Give the whole address, such as http://127.0.0.1:11434.")
	case u.User != nil || u.Fragment != "" || u.RawQuery != "":
		return "", usererr.New("embedding_invalid", "The address has a password, a query or a fragment in it.",
			"Leave it out. A secret is given on its own.")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && publicaddress.CheckChosen(ip, u.Scheme, true) != nil {
		return "", usererr.New("embedding_invalid", "Nothing is sent to this address.",
			"Use https for a public address; text never leaves your network without it.")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = usualPaths[kind]
	}
	return u.String(), nil
}

// SealSecret encrypts a secret, if there is one, for a generation of vectors.
func SealSecret(key credential.Key, generation, secret string) []byte {
	if secret == "" {
		return nil
	}
	return key.Seal(secretPlace(generation), []byte(secret))
}

func secretPlace(generation string) string { return "embedding/" + generation }

// transports are by scheme. The owner named the endpoint, so it may be on this machine.
var transports = map[string]*http.Transport{"http": publicaddress.ChosenTransport("http", true, connectTime),
	"https": publicaddress.ChosenTransport("https", true, connectTime)}

// Failure is why an endpoint returned no vectors. It contains nothing of the address, the texts or the answer.
type Failure struct {
	Reason   string        // a word
	rejected bool          // the endpoint will not take these texts
	wait     time.Duration // it asked to wait
}

// Error implements error.
func (f *Failure) Error() string { return "the endpoint for vectors failed: " + f.Reason }

// Embed returns the vector of each text.
func Embed(ctx context.Context, key credential.Key, e store.Embedding, texts []string) ([]store.Vector, error) {
	var secret []byte
	if len(e.Sealed) > 0 {
		var err error
		if secret, err = key.Open(secretPlace(e.Generation), e.Sealed); err != nil {
			return nil, &Failure{Reason: "secret_unreadable"}
		}
	}
	body, err := json.Marshal(map[string]any{"model": e.Model, "input": texts})
	if err != nil {
		return nil, fmt.Errorf("encode texts: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Address, bytes.NewReader(body))
	if err != nil || transports[r.URL.Scheme] == nil {
		return nil, &Failure{Reason: "invalid_address"}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "pdpp")
	if len(secret) > 0 {
		r.Header.Set("Authorization", "Bearer "+string(secret))
	}
	answer, err := transports[r.URL.Scheme].RoundTrip(r) // follows no redirect
	if err != nil {
		return nil, failureOf(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, answer.Body, 4<<10) // so that the connection can be used again
		return nil, failureOfStatus(answer)
	}
	content, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, failureOf(err)
	}
	return readVectors(content, len(texts))
}

// readVectors reads the answer of either kind.
func readVectors(content []byte, count int) ([]store.Vector, error) {
	var answer struct {
		Embeddings [][]float32 `json:"embeddings"`
		Data       []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if json.Unmarshal(content, &answer) != nil {
		return nil, &Failure{Reason: "unreadable_answer"}
	}
	if answer.Embeddings == nil {
		answer.Embeddings = make([][]float32, len(answer.Data))
		for _, d := range answer.Data {
			if d.Index >= 0 && d.Index < len(answer.Data) {
				answer.Embeddings[d.Index] = d.Embedding
			}
		}
	}
	if len(answer.Embeddings) != count {
		return nil, &Failure{Reason: "incomplete_answer"}
	}
	vectors := make([]store.Vector, count)
	for i, numbers := range answer.Embeddings {
		v, err := store.NewVector(numbers)
		if err != nil || len(v) != len(vectors[0]) && i > 0 {
			return nil, &Failure{Reason: "unreadable_vector"}
		}
		vectors[i] = v
	}
	return vectors, nil
}

func failureOfStatus(answer *http.Response) *Failure {
	f := &Failure{Reason: fmt.Sprintf("http_%d", answer.StatusCode)}
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		f.rejected = true
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		f.wait = min(time.Duration(min(seconds, 1<<20))*time.Second, longestRepeat)
	}
	return f
}

func failureOf(err error) error {
	var slow net.Error
	switch {
	case errors.Is(err, publicaddress.ErrNotPublic):
		return &Failure{Reason: "forbidden_address"}
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &slow) && slow.Timeout():
		return &Failure{Reason: "timeout"}
	}
	return &Failure{Reason: "unreachable"}
}
