package deviceapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/protocol"
)

func (a *api) terminalRoutes() []reply.Route {
	const source = wire.Root + "/{device}/source-instances/{source}"
	return []reply.Route{
		{Pattern: "POST " + source + "/terminal-run-commits", Handle: a.source(a.commitTerminal)},
		{Pattern: "POST " + source + "/terminal-collection", Handle: a.source(a.terminalCollection)},
	}
}

// commitTerminal stores the end of a pass: the cursor and the facts of each stream.
func (a *api) commitTerminal(w http.ResponseWriter, r *http.Request, c caller) error {
	var m wire.TerminalCommit
	if !read(w, r, &m) {
		return nil
	}
	switch {
	case m.Version != 1 || m.CommitID == "" || m.RunID == "" || m.StateDelta == nil || len(m.CommitID) > maxID ||
		len(m.RunID) > maxID:
		return invalid("", "The commit is not one of version 1.")
	case m.DeviceID != c.Device.ID || m.SourceInstanceID != c.Source.ID || m.ConnectorID != c.Source.ConnectorID ||
		m.ConnectorInstanceID != c.Connection.ID:
		return invalid("", "The commit is one of another source.")
	}
	hash, err := wire.EnvelopeHash(&m)
	if err != nil {
		return badBody(err)
	}
	event := sha256.Sum256([]byte(c.Source.ID + "\x00" + m.CommitID))
	answer, err := json.Marshal(wire.TerminalCommitted{Object: wire.ObjectTerminalCommit, CommitID: m.CommitID,
		RunID: m.RunID, EnvelopeHash: hash,
		TerminalEventID: "evt_" + hex.EncodeToString(event[:16])})
	if err != nil {
		return fmt.Errorf("encode the answer to a commit: %w", err)
	}
	receipt := store.TerminalReceipt{SourceID: c.Source.ID, CommitID: m.CommitID, RunID: m.RunID, EnvelopeHash: hash,
		Answer: answer}
	return a.endPass(w, r, c, receipt, m.StateDelta, m.TerminalFacts, http.StatusOK)
}

// collectionReport is the older form of a terminal commit, without its state.
type collectionReport struct {
	SourceInstanceID string              `json:"source_instance_id"`
	ConnectorID      string              `json:"connector_id"`
	RunID            string              `json:"run_id"`
	Streams          []wire.TerminalFact `json:"streams"`
}

func (a *api) terminalCollection(w http.ResponseWriter, r *http.Request, c caller) error {
	var m collectionReport
	if !read(w, r, &m) {
		return nil
	}
	if m.SourceInstanceID != c.Source.ID || m.ConnectorID != c.Source.ConnectorID || m.RunID == "" ||
		len(m.RunID) > maxID {
		return invalid("", "The report is one of another source.")
	}
	content, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode a report: %w", err)
	}
	sum := sha256.Sum256(content)
	receipt := store.TerminalReceipt{SourceID: c.Source.ID, CommitID: "terminal-collection:" + m.RunID,
		RunID: m.RunID, EnvelopeHash: hex.EncodeToString(sum[:]),
		Answer: []byte(`{"ok":true}`)}
	return a.endPass(w, r, c, receipt, nil, m.Streams, http.StatusCreated)
}

// endPass ends the device's run with the facts of its streams, once.
func (a *api) endPass(w http.ResponseWriter, r *http.Request, c caller, receipt store.TerminalReceipt,
	state map[string]jsontext.Value, facts []wire.TerminalFact, replayed int) error {
	if had, err := a.terminalBefore(r, receipt); err == nil {
		return answerBytes(w, replayed, had.Answer)
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	g, err := a.gatesOf(r.Context(), c)
	if err != nil {
		return err
	}
	u := store.Upload{Uploader: a.uploader(c, g), Terminal: &receipt}
	var unknown string
	if u.Cursors, unknown = g.cursors(state); unknown != "" {
		return invalid("state_delta", "The connector declares no such stream.")
	}
	measured, err := g.facts(facts)
	if err != nil {
		return err
	}
	u.Ends = succeeded(measured)
	_, err = a.Store.CommitUpload(r.Context(), u, a.Now())
	if errors.Is(err, store.ErrExists) { // another request stored it meanwhile
		had, err := a.terminalBefore(r, receipt)
		if err != nil {
			return err
		}
		return answerBytes(w, replayed, had.Answer)
	}
	if err != nil {
		return uploadFault(err)
	}
	return answerBytes(w, http.StatusCreated, receipt.Answer)
}

// terminalBefore returns the receipt of an earlier commit.
func (a *api) terminalBefore(r *http.Request, receipt store.TerminalReceipt) (store.TerminalReceipt, error) {
	had, err := a.Store.TerminalReceipt(r.Context(), receipt.SourceID, receipt.CommitID)
	if err == nil && (had.EnvelopeHash != receipt.EnvelopeHash || had.RunID != receipt.RunID) {
		err = &usererr.Error{Status: http.StatusConflict, Code: wire.CodeCommitConflict, Param: "commit_id",
			Message: "Something else was committed under this id.",
			Next:    "Send it under an id of its own."}
	}
	return had, err
}

// facts converts the coverage of a pass into the facts of a run: for each stream the number of stores and how many are
// accounted for. A stream without stores can still have a report about answers.
func (g *gates) facts(terminalFacts []wire.TerminalFact) (jsontext.Value, error) {
	type fact struct {
		Stream     string `json:"stream"`
		Collected  int64  `json:"collected"`
		Considered *int   `json:"considered,omitzero"`
		Covered    *int   `json:"covered,omitzero"`
		Checkpoint string `json:"checkpoint"`

		Drift *protocol.AnswerDrift `json:"answer_drift,omitzero"`
	}
	var all []fact
	for _, f := range terminalFacts {
		if g.streams[f.Stream] == nil || len(f.CoverageStatuses) == 0 && f.AnswerDrift == nil {
			return nil, invalid("terminal_facts", "A fact names no stream of the connector, or no status.")
		}
		if f.AnswerDrift != nil && f.AnswerDrift.Check() != nil {
			return nil, invalid("terminal_facts", "A report about answers breaks a rule of the protocol.")
		}
		one := fact{Stream: f.Stream, Checkpoint: evidence.CheckpointCommitted, Drift: f.AnswerDrift}
		if considered, covered := len(f.CoverageStatuses), 0; considered > 0 {
			for _, status := range f.CoverageStatuses {
				if (evidence.CoverageStore{Status: status}).Accounted() {
					covered++
				}
			}
			one.Considered, one.Covered = &considered, &covered
		}
		all = append(all, one)
	}
	if all == nil {
		return nil, nil
	}
	slices.SortFunc(all, func(a, b fact) int { return cmp.Compare(a.Stream, b.Stream) })
	return json.Marshal(map[string]any{"streams": all})
}

func answerBytes(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone asks again and gets the same answer
	return nil
}
