// Loaded before every program that `Child` starts. Kills it when the process that started it has ended, even by SIGKILL.

process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
// a program that is done can still end
process.channel?.unref();
