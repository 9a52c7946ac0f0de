// Loaded before a program that `Child` starts: kills it when the process that started it is gone, whatever ended that.

process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
// waiting for that does not keep a program running that is done
process.channel?.unref();
