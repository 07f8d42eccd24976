package realserver

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"time"
)

// Folder is a folder of an account as the files of a mail server have it.
type Folder struct {
	Name     string // as commands name it
	Messages []Message
}

// Message is a message of it.
type Message struct {
	Validity uint32
	UID      uint32
	Flags    []string // as IMAP has them
	Received time.Time
	Content  []byte // with the ends of lines that IMAP has
}

// SpeakIMAP signs an account in and gives it commands, each of which must succeed.
func SpeakIMAP(address, account, password string, commands ...string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	for i, command := range append([]string{fmt.Sprintf("LOGIN %q %q", account, password)}, commands...) {
		tag := fmt.Sprintf("t%d ", i)
		if _, err := fmt.Fprintf(conn, "%s%s\r\n", tag, command); err != nil {
			return err
		}
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return err
			}
			if !strings.HasPrefix(line, tag) {
				continue
			}
			if !strings.HasPrefix(line, tag+"OK") {
				return fmt.Errorf("%.60q: %s", command, strings.TrimSpace(line))
			}
			break
		}
	}
	return nil
}

// AppendIMAP is the command that puts a message into a folder.
func AppendIMAP(folder, flags string, at time.Time, content []byte) string {
	return fmt.Sprintf("APPEND %q (%s) %q {%d+}\r\n%s", folder, flags, at.Format("02-Jan-2006 15:04:05 -0700"), len(content), content)
}
