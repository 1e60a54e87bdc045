package server

import (
	"fmt"

	"github.com/cairn-rag/cairn/internal/process"
)

// littleMemory is the available memory, in bytes, below which programs that read documents may
// be killed by the kernel.
const littleMemory = 512 << 20

// checkMemory reports the memory that this machine has left, as the kernel estimates it. It
// reports nothing on a system that does not tell.
func checkMemory() []Finding {
	all, left, ok := process.MachineMemory()
	if !ok {
		return nil
	}
	detail := fmt.Sprintf("%.1f of %.1f GB are available", float64(left)/(1<<30), float64(all)/(1<<30))
	if left < littleMemory {
		return []Finding{{"memory", FindingBad, detail, "give the machine more memory, or stop other programs: programs that read documents may be killed"}}
	}
	return []Finding{{"memory", FindingOK, detail, ""}}
}
