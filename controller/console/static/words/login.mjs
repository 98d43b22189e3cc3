// Words of the login page.

export default {
  "login.title": ["裁判控制台", "Referees' console"],
  "login.name": ["姓名", "Name"],
  "login.pin": ["密码（数字）", "PIN"],
  "login.enter": ["登录", "Log in"],
  "login.both": ["请输入姓名和密码", "Enter your name and your PIN"],
  "login.forgot": ["忘记密码：请裁判长或技术员重新邀请", "PIN forgotten? Ask the chief or a technician for a new invitation."],
  "login.invited": ["收到邀请码？在此设置密码", "Do you have an invitation? Set your PIN here"],
};
