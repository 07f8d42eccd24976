// Command waiter is the smallest connector: it reads START, waits, and sends DONE. Files beside it
// determine the wait. It waits for a writer of the named pipe "gate" if that exists, and otherwise
// for the duration in "pause".
package main

import (
	"bufio"
	"os"
	"path/filepath"
	"time"
)

func main() {
	if _, err := bufio.NewReaderSize(os.Stdin, 4<<10).ReadSlice('\n'); err != nil && err != bufio.ErrBufferFull {
		os.Exit(1)
	}
	folder := filepath.Dir(os.Args[0])
	if gate, err := os.Open(filepath.Join(folder, "gate")); err == nil { // blocks until a writer opens it
		_ = gate.Close()
	} else if text, err := os.ReadFile(filepath.Join(folder, "pause")); err == nil {
		pause, err := time.ParseDuration(string(text))
		if err != nil {
			os.Exit(1)
		}
		time.Sleep(pause)
	}
	if _, err := os.Stdout.WriteString(`{"type":"DONE","status":"succeeded","records_emitted":0}` + "\n"); err != nil {
		os.Exit(1)
	}
}
