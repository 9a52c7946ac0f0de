@node "%~dp0..\lib\dist\kubectl-tunnelgateway.js" %*
