package realserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// RequestJSON sends a request of a test to a server and reads its JSON into something, which may be nil.
// An answer that is no success is an error.
func RequestJSON(req *http.Request, into any) error {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %.300s", req.Method, req.URL.Path, resp.Status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}
