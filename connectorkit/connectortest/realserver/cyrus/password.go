package cyrus

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
)

// passwordServer answers on the socket on which the server asks whether a name and a password fit, in the
// place of Cyrus SASL's saslauthd.
type passwordServer struct {
	l   net.Listener
	all sync.WaitGroup
}

func startPasswordServer(path string) (*passwordServer, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	d := &passwordServer{l: l}
	if err := os.Chmod(path, 0o777); err != nil { // the server runs as another user
		_ = l.Close()
		return nil, err
	}
	d.all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.all.Go(func() {
				defer conn.Close()
				_ = answerQuestion(conn) // who asks and goes away gets no answer
			})
		}
	})
	return d, nil
}

// answerQuestion reads a question: name, password, service and realm, each after its length.
func answerQuestion(conn io.ReadWriter) error {
	var words [4]string
	for i := range words {
		var size uint16
		if err := binary.Read(conn, binary.BigEndian, &size); err != nil {
			return err
		}
		word := make([]byte, size)
		if _, err := io.ReadFull(conn, word); err != nil {
			return err
		}
		words[i] = string(word)
	}
	message := "NO"
	if words[1] == Password {
		message = "OK"
	}
	_, err := conn.Write(append([]byte{0, byte(len(message))}, message...))
	return err
}

func (d *passwordServer) closeServer() error {
	err := d.l.Close()
	d.all.Wait()
	return err
}
