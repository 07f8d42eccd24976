package providersim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Truth is what exists for a reader at one moment, by stream and key.
type Truth map[string]map[string]Item

// Item is one existing object, or the tombstone of one that the provider announces as deleted.
type Item struct {
	// Data is the JSON that the provider serves for the item.
	Data    json.RawMessage `json:"data"`
	Deleted bool            `json:"deleted"`
}

// Mutation asks a provider to change its data. Which operations exist and
// whether they read N or ID is up to the provider.
type Mutation struct {
	Op string `json:"op"`
	N  int    `json:"n,omitempty"`
	ID string `json:"id,omitempty"`
}

// Mutated lists what a mutation changed, and the simulated time after it.
type Mutated struct {
	Op  string    `json:"op"`
	IDs []string  `json:"ids"`
	Now time.Time `json:"now"`
}

// Provider is what the control port drives.
type Provider interface {
	Truth() Truth
	Mutate(Mutation) (Mutated, error)
	ChangeToken(TokenChange) (TokenStatus, error)
}

// maxControlBody bounds what a control request may carry.
const maxControlBody = 1 << 20

// ControlHandler serves the control port of a provider behind gate. The package
// comment lists its routes.
func ControlHandler(p Provider, gate *Gate) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /truth", func(w http.ResponseWriter, _ *http.Request) { respondJSON(w, p.Truth()) })
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) { respondJSON(w, gate.Stats()) })
	mux.HandleFunc("DELETE /stats", func(w http.ResponseWriter, _ *http.Request) {
		gate.ResetStats()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, _ *http.Request) { respondJSON(w, gate.Requests()) })
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { respondJSON(w, gate.Faults()) })
	mux.HandleFunc("POST /faults", decodeCommand(func(f Fault) (any, error) {
		id, err := gate.Add(f)
		return map[string]int{"id": id}, err
	}))
	mux.HandleFunc("DELETE /faults", func(w http.ResponseWriter, _ *http.Request) {
		gate.Clear()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("DELETE /faults/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err == nil {
			err = gate.Remove(id)
		}
		if err != nil {
			respondError(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /mutate", decodeCommand(func(m Mutation) (any, error) { return p.Mutate(m) }))
	mux.HandleFunc("POST /token", decodeCommand(func(c TokenChange) (any, error) { return p.ChangeToken(c) }))
	return mux
}

// decodeCommand decodes a JSON body strictly, so that a misspelt field in a test is
// an error and not a fault that never fires.
func decodeCommand[T any](do func(T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in T
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxControlBody))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			respondError(w, fmt.Errorf("read body: %w", err))
			return
		}
		out, err := do(in)
		if err != nil {
			respondError(w, err)
			return
		}
		respondJSON(w, out)
	}
}

func respondJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(EncodeJSON(v))
}

func respondError(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(EncodeJSON(map[string]string{"error": err.Error()}))
}
