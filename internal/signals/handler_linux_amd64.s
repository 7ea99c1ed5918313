#include "textflag.h"

// handler is called by the kernel, as handler(signal DI, siginfo SI, context DX), with
// every signal blocked and in the middle of anything. It writes the siginfo to the pipe;
// what the pipe does not take as a whole goes to the runtime's handler as if the kernel
// had called that. The kernel restores all registers afterwards, and a system call keeps
// all but AX, CX and R11.
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0
	MOVQ DI, R8
	MOVQ DX, R9
	MOVL ·pipe(SB), DI
	MOVL $128, DX          // bytes of a siginfo
	MOVL $1, AX            // write
	SYSCALL
	CMPQ AX, $128
	JNE  refused
	RET

refused:
	MOVQ R8, DI
	MOVQ R9, DX
	MOVQ ·otherwise(SB), AX
	JMP  AX

// func address() uintptr
TEXT ·address(SB), NOSPLIT, $0-8
	MOVQ $·handler(SB), AX
	MOVQ AX, ret+0(FP)
	RET
