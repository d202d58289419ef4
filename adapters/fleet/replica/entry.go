package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// An entry of the log is a version byte and then, for each command, its length
// (unsigned varint) and its bytes. An entry without commands does nothing; it
// shows that everything before it is applied.
const entryVersion = 1

// Limits of an entry. A follower that is far behind gets several in one message.
const (
	// MaxCommand is the size of the largest command, in bytes.
	MaxCommand = 512 << 10
	// maxEntryBytes and maxEntryCommands end the gathering for one entry. One command
	// of any allowed size always fits.
	maxEntryBytes    = 512 << 10
	maxEntryCommands = 1024
)

func encodeEntry(commands [][]byte) []byte {
	size := 1
	for _, c := range commands {
		size += binary.MaxVarintLen32 + len(c)
	}
	b := append(make([]byte, 0, size), entryVersion)
	for _, c := range commands {
		b = binary.AppendUvarint(b, uint64(len(c)))
		b = append(b, c...)
	}
	return b
}

// decodeEntry reads what encodeEntry wrote. The commands share the entry's
// memory.
func decodeEntry(b []byte) ([][]byte, error) {
	if len(b) == 0 {
		return nil, errors.New("log entry is empty")
	}
	if b[0] != entryVersion {
		return nil, fmt.Errorf("log entry has version %d, this program knows %d: a newer one wrote it", b[0], entryVersion)
	}
	var commands [][]byte
	for b = b[1:]; len(b) > 0; {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > MaxCommand || n > uint64(len(b)-w) {
			return nil, fmt.Errorf("log entry: command %d has a wrong length", len(commands))
		}
		if len(commands) == maxEntryCommands {
			return nil, fmt.Errorf("log entry has more than %d commands", maxEntryCommands)
		}
		end := w + int(n)
		commands = append(commands, b[w:end:end])
		b = b[end:]
	}
	return commands, nil
}
