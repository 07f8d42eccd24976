package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// measureChatGPT collects a history of conversations behind hidden buckets with the real
// connector, one by one and ten at a time. Time is virtual there, which only a test can have, so
// that the test of the connector measures.
func measureChatGPT(ctx context.Context, _ config, dir string, r *report) error {
	file := filepath.Join(dir, "chatgpt.json")
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-vet=off", "-run", "^TestFirstCollection$", "./connectors/chatgpt", "-measure", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("measure chatgpt: %w\n%s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var all []struct {
		Name    string
		Share   float64
		Refused int
		Chats   int
		Runs    int
		Minutes float64
		Longest float64 `json:"longest_minutes"`
		Again   int
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("read figures of chatgpt: %w", err)
	}
	for _, m := range all {
		r.pace(pacing{
			Name: "chatgpt, " + m.Name, Providers: 1, Ratio: m.Share, Want: 0.95,
			Refused: 1000 * float64(m.Refused) / float64(m.Chats), WantRefused: 5,
		})
		r.tell(figure{Name: "chatgpt, " + m.Name + ", a first collection", Value: m.Minutes / 60, Unit: "hours",
			Note: fmt.Sprintf("%d conversations in %d runs of an hourly schedule, the longest %.1f h", m.Chats, m.Runs, m.Longest/60)})
		r.tell(figure{Name: "chatgpt, " + m.Name + ", a run after 20 changes", Value: float64(m.Again), Unit: "requests"})
	}
	return nil
}
